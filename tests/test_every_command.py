"""Habits that every command keeps, also one that is added tomorrow: JSON, quiet, no colour, completion."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from traindx.cli import GROUPS, cli
from traindx.cli._common import _ids
from traindx.experiment.casebook import Entry, add
from traindx.knowledge.catalogue import causes, known_ids, remedies, symptoms

# Commands that answer nothing a program could read, and why.
WITHOUT_JSON = {
    "demo": "shows other commands at work",
    "completion": "prints lines for a shell",
    "mcp": "speaks a protocol of its own",
}
# A call of each command that is quick, in a folder with the files below. Others run a training: their own
# tests call them with --json.
CALLS = {
    "ask": ["--symptoms", "the loss is nan", "--exit-zero"],
    "brief": ["metrics.csv"],
    "casebook": [],
    "check": ["data.csv", "--exit-zero"],
    "compare": ["metrics.csv", "other.csv"],
    "diagnose": ["metrics.csv", "--exit-zero"],
    "doctor": ["--timeout", "0.5"],
    "explain": ["lr_too_high"],
    "inspect": ["metrics.csv"],
    "lint": ["train.py", "--exit-zero"],
    "list": ["causes"],
    "show": ["metrics.csv", "F1"],
    "skill install": ["--dry-run", "--for", "all"],
    "skill list": [],
    "skill show": ["debug-training"],
}
TRAINS = {"run", "preflight", "lr-find", "confirm", "treat", "try", "prove", "demo", "ci", "mcp"}
LOG = "step,loss,val_loss\n" + "".join(f"{i},{4 * 0.8**i},{5 * 0.8**i}\n" for i in range(12))
SCRIPT = """\
import torch
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(9):
    optimizer.zero_grad()
    torch.nn.functional.mse_loss(model(torch.randn(8, 4)), torch.randn(8, 1)).backward()
    optimizer.step()
"""
TRIED = Entry("2026-01-01", "train.py", "divergence", "lr_too_high", "lower_lr", "lr=0.01", "helped")


def leaves(group: click.Group = cli, before: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with its words."""
    ctx = click.Context(group)
    for name in group.list_commands(ctx):
        command = group.get_command(ctx, name)
        assert command is not None
        if isinstance(command, click.Group):
            yield from leaves(command, (*before, name))
        else:
            yield " ".join((*before, name)), command


COMMANDS = dict(leaves())
QUICK = sorted(set(CALLS) & set(COMMANDS))


@pytest.mark.parametrize("name", COMMANDS)
def test_it_has_what_every_command_has(name: str) -> None:
    options = {word for parameter in COMMANDS[name].params for word in parameter.opts}
    assert "--quiet" in options
    assert ("--json" in options) != (name in WITHOUT_JSON), f"{name}: give it --json, or a reason not to"
    assert COMMANDS[name].get_short_help_str(100), name
    assert name in CALLS or name.split()[0] in TRAINS | {"completion"}, f"call {name} here"


def test_every_command_is_in_a_group_of_the_help() -> None:
    grouped = {name for group in GROUPS.values() for name in group}
    assert {name.split()[0] for name in COMMANDS} <= grouped


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "metrics.csv").write_text(LOG)
    (tmp_path / "other.csv").write_text(LOG.replace("0,4", "0,5"))
    (tmp_path / "train.py").write_text(SCRIPT)
    rows = "".join(f"{i},{i % 7},{i % 2}\n" for i in range(60))
    (tmp_path / "data.csv").write_text("a,b,label\n" + rows)
    add([TRIED], tmp_path)
    return tmp_path


def run(folder: Path, *words: str, **environ: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "traindx", *words]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=folder, env={**os.environ, **environ}, check=False
    )


def called(*words: str) -> Result:
    """The command without a process of its own, in the working folder."""
    done = CliRunner().invoke(cli, words)
    assert done.exception is None or isinstance(done.exception, SystemExit), done.exception
    return done


@pytest.mark.parametrize("name", QUICK)
def test_json_is_one_document_on_standard_output(
    folder: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.chdir(folder)
    (option,) = [one for one in COMMANDS[name].params if "--json" in one.opts]
    words = ["--json"] if isinstance(option, click.Option) and option.is_flag else ["--json", "-"]
    done = called(*name.split(), *CALLS[name], *words)
    assert done.exit_code in (0, 1), done.stderr
    json.loads(done.stdout, parse_constant=lambda token: pytest.fail(f"bare {token}"))


def on_a_terminal(folder: Path, *words: str, **environ: str) -> str:
    """What a terminal receives, of both streams."""
    main, side = pty.openpty()
    command = [sys.executable, "-m", "traindx", *words]
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=side, stderr=side, cwd=folder, env={**os.environ, **environ}
    )
    os.close(side)
    received = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:
            break
        if not part:
            break
        received += part
    assert child.wait() in (0, 1), received.decode()
    os.close(main)
    return received.decode()


@pytest.mark.parametrize("name", QUICK)
def test_no_colour_where_none_is_wanted(folder: Path, name: str) -> None:
    text = on_a_terminal(folder, *name.split(), *CALLS[name], NO_COLOR="1", TERM="xterm-256color")
    assert not re.search(r"\x1b\[[0-9;]*[34][0-9]", text), text


def test_colour_where_it_is_wanted(folder: Path) -> None:
    environ = {"TERM": "xterm-256color", "NO_COLOR": ""}
    assert "\x1b[" in on_a_terminal(folder, "diagnose", "metrics.csv", **environ)


@pytest.mark.parametrize("name", QUICK)
def test_quiet_leaves_only_the_result(folder: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.chdir(folder)
    plain, still = (called(*name.split(), *CALLS[name], *option) for option in ([], ["--quiet"]))
    assert still.exit_code == plain.exit_code
    assert still.stderr == ""
    if name != "doctor":  # measures anew
        assert still.stdout == plain.stdout


def test_quiet_says_nothing_of_files_it_wrote(folder: Path) -> None:
    assert "Wrote" in run(folder, "diagnose", "metrics.csv", "--md", "a.md").stderr
    assert run(folder, "diagnose", "metrics.csv", "--md", "b.md", "-q").stderr == ""
    assert (folder / "b.md").exists()


def test_quiet_keeps_warnings_and_errors(folder: Path) -> None:
    assert "gone.csv" in run(folder, "diagnose", "metrics.csv", "gone.csv", "-q").stderr
    assert "Error" in run(folder, "diagnose", "gone.csv", "-q").stderr


def test_treat_prints_json_and_nothing_else(folder: Path) -> None:
    done = run(folder, "treat", "--dry-run", "--json", "train.py")
    document = json.loads(done.stdout)
    assert document["schema"] == "traindx/treatment/1"
    assert done.stderr == ""


def test_the_ids_that_are_completed_are_those_there_are() -> None:
    assert set(_ids(("cause",))) == set(causes())
    assert set(_ids(("remedy",))) == set(remedies())
    assert set(_ids(("symptom",))) == set(symptoms())
    assert set(_ids(("cause", "symptom", "remedy", "sheet", "detector"))) == known_ids()


class Bash:
    """A bash at a terminal, with what `traindx completion bash` prints."""

    def __init__(self, folder: Path) -> None:
        self.main, side = pty.openpty()
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        environ = {**os.environ, "PATH": path, "PS1": "$ ", "TERM": "dumb", "INPUTRC": "/dev/null"}
        self.child = subprocess.Popen(
            ["bash", "--norc", "--noprofile", "-i"],
            stdin=side,
            stdout=side,
            stderr=side,
            cwd=folder,
            env=environ,
            start_new_session=True,
        )
        os.close(side)
        self.type('eval "$(traindx completion bash)"; echo re""ady\n', "ready")

    def type(self, keys: str, until: str) -> str:
        """What appears until the text does, or for a while."""
        os.write(self.main, keys.encode())
        text, end = "", time.monotonic() + 60
        while until not in text and time.monotonic() < end:
            if select.select([self.main], [], [], 0.2)[0]:
                text += os.read(self.main, 65536).decode("utf-8", "replace")
        assert until in text, text
        return text

    def close(self) -> None:
        os.write(self.main, b"\x15exit\n")
        self.child.wait(timeout=20)
        os.close(self.main)


@pytest.fixture
def bash(folder: Path) -> Iterator[Bash]:
    if shutil.which("bash") is None:
        pytest.skip("there is no bash")
    shell = Bash(folder)
    yield shell
    shell.close()


@pytest.mark.parametrize(
    ("keys", "becomes"),
    [
        ("traindx pref", "light"),
        ("traindx explain lr_too_h", "igh"),
        ("traindx explain dead_un", "its"),
        ("traindx try clip_gr", "adients"),
        ("traindx treat --only clip_gr", "adients"),
        ("traindx list remed", "ies"),
        ("traindx diagnose --exit-z", "ero"),
        ("traindx diagnose metr", "ics.csv"),
        ("traindx preflight tr", "ain.py"),
    ],
)
def test_a_real_bash_completes(bash: Bash, keys: str, becomes: str) -> None:
    bash.type(f"{keys}\t", keys + becomes)


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_there_are_lines_for_each_shell(folder: Path, shell: str) -> None:
    done = run(folder, "completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"_TRAINDX_COMPLETE={shell}_complete" in done.stdout
    program = shutil.which(shell)
    if program is not None:
        subprocess.run([program, "-n"], input=done.stdout, text=True, check=True)


def test_a_shell_that_is_not_known(folder: Path) -> None:
    done = run(folder, "completion", "tcsh")
    assert done.returncode == 2
