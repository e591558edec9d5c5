"""A recording names a program. Only one that this user made here is run without a yes."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from tests.run_scripts.calling import call, facts, recorded
from traindx.cli import cli
from traindx.observe import signature

SCRIPT = Path(__file__).parents[1] / "trial" / "scripts" / "sums_gradients.py"
MARK = "\nimport os, pathlib; pathlib.Path(os.environ['MARK']).write_text('ran')\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training recorded by `traindx run`, and the folder of the key that signed it."""
    folder = tmp_path_factory.mktemp("consent")
    (folder / "work").mkdir()
    shutil.copy(SCRIPT, folder / "work" / "train.py")
    words = ("--quiet", "--steps", "60", "--out", "made", "train.py")
    done = recorded(folder / "work", *words, XDG_STATE_HOME=str(folder / "made-state"))
    assert done.code == 0, done.err
    return folder


@pytest.fixture
def place(made: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The folder of the training; `MARK` is what anything of it would write if it ran."""
    for name in ("state", "rec"):
        shutil.rmtree(made / name, ignore_errors=True)
    shutil.copytree(made / "made-state", made / "state")
    monkeypatch.setenv("XDG_STATE_HOME", str(made / "state"))
    monkeypatch.setenv("MARK", str(made / "mark"))
    monkeypatch.chdir(made / "work")
    yield made / "work"
    (made / "work").chmod(0o755)


@pytest.fixture
def recording(made: Path, place: Path) -> Path:
    del place
    shutil.copytree(made / "work" / "made", made / "rec")
    return made / "rec"


def changed(recording: Path, **more: object) -> None:
    (recording / "run.json").write_text(json.dumps(facts(recording) | more), encoding="utf-8")


def confirm(recording: Path, *options: str) -> Result:
    return CliRunner().invoke(
        cli, ["confirm", *options, "--time-budget", "20s", "--top", "2", str(recording)]
    )


def asked(result: Result) -> bool:
    return result.exit_code == 2 and "was not recorded by you on this machine" in result.output


def test_the_key_is_this_users_alone(place: Path, recording: Path) -> None:
    key = place.parent / "state" / "traindx" / "key"
    assert key.stat().st_mode & 0o777 == 0o600
    assert len(key.read_bytes()) == 32
    assert key.read_bytes().hex() not in (recording / "run.json").read_text(encoding="utf-8")
    assert [path.name for path in key.parent.iterdir()] == ["key"]
    assert signature.holds(facts(recording))


def other_key(place: Path, recording: Path) -> None:
    del recording
    (place.parent / "state" / "traindx" / "key").write_bytes(os.urandom(32))


def no_key(place: Path, recording: Path) -> None:
    del recording
    (place.parent / "state" / "traindx" / "key").unlink()


def open_key(place: Path, recording: Path) -> None:
    del recording
    (place.parent / "state" / "traindx" / "key").chmod(0o644)


def linked_key(place: Path, recording: Path) -> None:
    del recording
    key = place.parent / "state" / "traindx" / "key"
    key.rename(key.with_name("real"))
    key.symlink_to("real")


def queue_for_key(place: Path, recording: Path) -> None:
    del recording
    key = place.parent / "state" / "traindx" / "key"
    key.unlink()
    os.mkfifo(key, 0o600)


def short_key(place: Path, recording: Path) -> None:
    (place.parent / "state" / "traindx" / "key").write_bytes(b"")
    changed(recording, signature=signature._digest(b"", facts(recording)))


def other_command(place: Path, recording: Path) -> None:
    del place
    changed(recording, command="python train.py --evil")


def other_script(place: Path, recording: Path) -> None:
    other = place / "other.py"
    other.write_text(SCRIPT.read_text(encoding="utf-8") + MARK, encoding="utf-8")
    changed(recording, command="python other.py", script={"path": str(other)})


def other_folder(place: Path, recording: Path) -> None:
    elsewhere = place.parent / "elsewhere"
    shutil.copytree(place, elsewhere, dirs_exist_ok=True)
    changed(recording, folder=str(elsewhere))


def unsigned(place: Path, recording: Path) -> None:
    del place
    changed(recording, signature=None)


def odd_signature(place: Path, recording: Path) -> None:
    del place
    changed(recording, signature="\u202e\ud800")


def folder_for_all(place: Path, recording: Path) -> None:
    del recording
    place.chmod(0o777)


FORGED = [
    other_key,
    no_key,
    open_key,
    linked_key,
    queue_for_key,
    short_key,
    other_command,
    other_script,
    other_folder,
    unsigned,
    odd_signature,
    folder_for_all,
]


@pytest.mark.parametrize("forge", FORGED, ids=lambda forge: forge.__name__)
def test_what_can_be_forged_is_asked_about(
    place: Path, recording: Path, forge: Callable[[Path, Path], Any]
) -> None:
    assert signature.holds(facts(recording))
    forge(place, recording)
    result = confirm(recording)
    assert asked(result), result.output
    assert result.stderr.count("\n") == 1
    assert "python " in result.stderr
    assert str(facts(recording)["folder"]) in result.stderr


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")
def test_ones_own_and_those_with_a_yes_are_run(place: Path, recording: Path) -> None:
    shutil.copy(SCRIPT, place / "train.py")
    assert "try 1" in confirm(recording).output
    changed(recording, signature=None)
    assert "try 1" in confirm(recording, "--yes").output


def test_a_shipped_recording_runs_nothing(place: Path, recording: Path) -> None:
    """A repository with a recording inside, whose program marks that it ran, as a script and by `-m`."""
    for name in ("evil", "pkg"):
        (place / name).mkdir(exist_ok=True)
    (place / "evil.py").write_text(MARK + SCRIPT.read_text(encoding="utf-8"), encoding="utf-8")
    (place / "pkg/__init__.py").write_text(MARK)
    shutil.copy(SCRIPT, place / "pkg/train.py")
    mark = place.parent / "mark"
    for command in ("python evil.py", "python -m pkg.train", "python -m evil", "python evil"):
        shipped = place / ".traindx" / "run-1"
        shutil.rmtree(shipped, ignore_errors=True)
        shutil.copytree(recording, shipped)
        changed(shipped, command=command, folder=str(place), script=None)
        assert confirm(shipped, "--dry-run").exit_code in (0, 2)
        assert confirm(shipped).exit_code == 2
        assert not mark.exists()


def test_a_dry_run_shows_the_program_and_does_not_ask(place: Path, recording: Path) -> None:
    changed(recording, command="python train.py '\x1b[2Jx'")
    result = confirm(recording, "--dry-run")
    assert result.exit_code == 0, result.output
    assert f"To run: python train.py '\\x1b[2Jx' in {place}" in result.output


def test_on_a_terminal_it_is_asked(place: Path, recording: Path) -> None:
    """The answer decides; the command is shown in full, its end too."""
    import pty

    changed(recording, command=f"python train.py {'x' * 3000} \x1b]0;title\x07 --last")
    for answer, code in (("n", 2), ("\x04", 130)):
        said = ""
        pid, terminal = pty.fork()
        if not pid:
            os.execv(sys.executable, [sys.executable, "-m", "traindx", "confirm", str(recording)])
        while "Run it?" not in said:
            said += os.read(terminal, 4096).decode()
        os.write(terminal, answer.encode() + b"\n")
        _, status = os.waitpid(pid, 0)
        os.close(terminal)
        assert os.waitstatus_to_exitcode(status) == code
        assert "--last" in said
        assert f"in {place}" in said
        assert "\x1b" not in said
        assert "\x07" not in said


def test_a_home_that_cannot_be_written_keeps_nothing_from_running(place: Path) -> None:
    (place.parent / "file").touch()
    (place / "bare.py").write_text("print('loss 1')\n")
    for home in (str(place.parent / "file"), "relative", "/proc/nowhere"):
        where = {"XDG_STATE_HOME": home, "HOME": home}
        out = f"rec-{home.replace('/', '-')}"
        done = call(
            [sys.executable, "-m", "traindx", "run", "--quiet", "--out", out, "bare.py"],
            place,
            **where,
        )
        assert done.code == 0, done.err
        assert facts(place / out)["signature"] is None
    assert not (place / "relative").exists()


def test_many_processes_agree_on_one_key(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first recordings of a user may begin at the same time, as the ranks of a training do."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    told = {"command": "python x", "folder": str(place), "script": None}
    code = f"from traindx.observe.signature import sign; print(sign({told!r}))"
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(call, [sys.executable, "-c", code], place) for _ in range(8)]
    assert len({job.result().out for job in jobs}) == 1
    assert signature.holds(told | {"signature": jobs[0].result().out.strip()})


def test_bad_facts_are_told_in_one_line(place: Path, recording: Path) -> None:
    bad: list[dict[str, object]] = [
        {"command": "python '"},
        {"command": ""},
        {"command": "python"},
        {"command": ["python", "train.py"]},
        {"command": "python -m"},
        {"command": "python \x00"},
        {"command": "python -m ..x"},
        {"folder": "\x00"},
        {"folder": str(place / "gone")},
        {"folder": 3},
        {"world_size": 2},
        {"script": {"path": "\x00"}},
        {"script": {"path": str(place)}},
    ]
    good = facts(recording)
    for one in bad:
        changed(recording, **one)
        result = confirm(recording)
        assert result.exit_code == 2, (one, result.output)
        assert result.stderr.count("\n") == 1, (one, result.stderr)
        assert "traindx itself failed" not in result.stderr, (one, result.stderr)
        changed(recording, **good)


def test_the_folder_of_a_recording_leads_treat_to_no_file(place: Path, recording: Path) -> None:
    """`treat` runs the script where it is called: a recording's word for another folder is not taken."""
    from traindx.cli.treat import _recorded
    from traindx.experiment.edit.job import Job
    from traindx.source.script import read_script

    other = place.parent / "other"
    other.mkdir(exist_ok=True)
    changed(recording, folder=str(other))
    run = _recorded(str(recording))
    assert run is not None
    assert Job(read_script("train.py"), run).folder == str(place)
