"""Whatever a name holds, a line of error or warning stays one line that cannot steer the terminal."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.hostile.names import NAMES
from tests.run_scripts.calling import call
from traindx.cli import cli, say

WORDS = [
    ["{}"],
    ["-{}"],
    ["--{}"],
    ["inspect", "{}"],
    ["inspect", "--{}", "log.csv"],
    ["inspect", "--map", "{}", "log.csv"],
    ["inspect", "--map", "loss={}", "log.csv"],
    ["inspect", "--csv", "no/{}", "log.csv"],
    ["inspect", "--plots", "log.csv/{}", "log.csv"],
    ["diagnose", "{}"],
    ["diagnose", "--set", "{}", "log.csv"],
    ["diagnose", "--set", "{}.x=1", "log.csv"],
    ["diagnose", "--md", "no/{}", "log.csv"],
    ["diagnose", "--html", "no/{}", "log.csv"],
    ["diagnose", "--script", "{}", "log.csv"],
    ["compare", "{}", "log.csv"],
    ["compare", "--metric", "{}", "log.csv", "log.csv"],
    ["compare", "--baseline", "{}", "log.csv"],
    ["lint", "{}"],
    ["lint", "--sarif", "no/{}", "empty.py"],
    ["run", "{}"],
    ["run", "-m", "{}"],
    ["run", "--budget", "{}", "empty.py"],
    ["run", "--stop-on", "{}", "empty.py"],
    ["run", "--json", "no/{}", "empty.py"],
    ["treat", "{}"],
    ["treat", "-m", "{}"],
    ["treat", "--only", "{}", "empty.py"],
    ["treat", "--time-budget", "{}", "empty.py"],
    ["treat", "--recording", "{}", "empty.py"],
    ["treat", "--out", "log.csv/{}", "empty.py"],
    ["try", "{}", "empty.py"],
    ["try", "lower_lr", "{}"],
    ["preflight", "{}"],
    ["preflight", "-m", "{}"],
    ["lr-find", "{}"],
    ["lr-find", "--plot", "no/{}", "empty.py"],
    ["lr-find", "--plot", "{}", "--to", "1", "empty.py"],
    ["confirm", "{}"],
    ["confirm", "log.csv", "{}"],
    ["explain", "{}"],
    ["list", "{}"],
    ["ask", "{}"],
    ["ask", "--answers", "{}"],
    ["casebook", "--folder", "{}"],
]


def harmless(text: str) -> bool:
    return all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRAINDX_DEBUG", "1")
    monkeypatch.setenv("COLUMNS", "100")
    (tmp_path / "log.csv").write_text("step,loss\n" + "".join(f"{n},{1 / n}\n" for n in range(1, 40)))
    (tmp_path / "empty.py").touch()
    return tmp_path


@pytest.mark.parametrize("name", [name for name in NAMES if "\0" not in NAMES[name]])
def test_every_command_refuses_in_one_harmless_line(place: Path, name: str) -> None:
    del place
    for words in WORDS:
        made = [word.format(NAMES[name]) for word in words]
        # `color`: as on a terminal, where nothing is taken out of what is printed.
        result = CliRunner().invoke(cli, made, color=True, obj=[])
        assert result.exception is None or isinstance(result.exception, SystemExit), (words, result.exception)
        assert harmless(result.output), (words, result.output)
        if result.exit_code == 2:
            *_, last = result.stderr.splitlines()
            assert last.startswith("Error: "), (words, result.stderr)


def test_on_a_real_terminal(place: Path) -> None:
    """The same with a terminal at the other end, where colours are not taken out."""
    import pty

    script = str(place / "\x1b[31m\x9b\u202eno.py")
    for words in (["run", script], ["treat", "-m", "\x1b]0;t\x07"], ["inspect", "--\x1b[1m", "x"]):
        pid, terminal = pty.fork()
        if not pid:
            os.execv(sys.executable, [sys.executable, "-m", "traindx", *words])
        said = b""
        while piece := _read(terminal):
            said += piece
        assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 2
        os.close(terminal)
        assert harmless(said.decode().replace("\r\n", "\n")), said
        assert "\\x1b" in said.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 4096)
    except OSError:  # the other end is gone
        return b""


def test_where_a_recording_goes_is_told_harmlessly(place: Path) -> None:
    for out in ("rec\x1b]0;t\x07\u202e", "/proc/nowhere\x9b"):
        done = call([sys.executable, "-m", "traindx", "run", "--out", out, "empty.py"], place)
        assert done.code == 0
        assert harmless(done.err), done.err
        assert "recording to" in done.err


def test_lines_of_our_own_stay_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    say("Wrote runs/größe-漢 to x")
    assert capsys.readouterr().err == "Wrote runs/größe-漢 to x\n"
