"""The status at the bottom of the terminal, and what the program prints above it."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from tests.run_scripts.calling import SCRIPTS, recording
from tests.run_scripts.terminal import Session, Terminal
from traindx.cli._monitor import alive
from traindx.cli._tail import Tail
from traindx.observe.journal import Journal

CHATTER = SCRIPTS / "chatter.py"
RUN = (sys.executable, "-m", "traindx", "run")


def has_status(terminal: Terminal) -> bool:
    return terminal.lines()[-2:][0].startswith("traindx  ")


def expected(last: int, columns: int) -> list[str]:
    """What the program printed, as it stands on a terminal of this width."""
    lines: list[str] = []
    for number in range(1, last + 1):
        text = f"line {number} " + "x" * (number * 7 % 90)
        lines += [text[at : at + columns].rstrip() for at in range(0, len(text.rstrip()), columns)]
        if number % 10 == 0:
            lines.append("8/8 [########]")
        if number % 7 == 0:
            lines.append("half of a line")
    return lines


def test_output_above_the_status_is_whole(tmp_path: Path) -> None:
    session = Session([*RUN, CHATTER, "1.5"], tmp_path)
    session.until(has_status)
    assert session.terminal.bottom == 21
    assert "too early to judge" in session.terminal.lines()[-1]
    session.to_the_end()
    assert session.process.returncode == 0
    everything = session.terminal.everything()
    assert everything[0].startswith("traindx: recording to .traindx/chatter-")
    end = next(at for at, line in enumerate(everything) if line.startswith("done "))
    assert everything[1:end] == expected(int(everything[end].split()[1]), 80)
    rest = "\n".join(everything[end + 1 :])
    assert "traindx: no framework was imported" in rest
    assert "too early to judge" not in rest
    assert (session.terminal.top, session.terminal.bottom) == (0, 23)
    assert "nothing to diagnose" in rest


def test_terminal_is_given_back_when_the_program_is_killed(tmp_path: Path) -> None:
    session = Session([*RUN, CHATTER, "0.1", "wait"], tmp_path, rows=20)
    session.until(lambda terminal: has_status(terminal) and "a last word" in "".join(terminal.lines()))
    os.kill(session.process.pid, signal.SIGKILL)
    session.to_the_end()
    assert session.process.returncode == -9
    everything = session.terminal.everything()
    last = everything.index("a last word without an end")
    assert everything[last + 1] == "traindx: the program was killed (SIGKILL); this is what it had recorded"
    assert (session.terminal.top, session.terminal.bottom) == (0, 19)


def test_window_changes_its_size(tmp_path: Path) -> None:
    session = Session([*RUN, CHATTER, "0.1", "wait"], tmp_path, rows=30)
    session.until(lambda terminal: has_status(terminal) and "a last word" in "".join(terminal.lines()))
    for rows, columns in ((24, 70), (40, 100)):
        session.size(rows, columns)
        session.until(lambda terminal: has_status(terminal) and terminal.bottom == terminal.rows - 3)
        lines = session.terminal.lines()
        assert sum(line.startswith("traindx  ") for line in lines) == 1
        assert len(lines) == rows
        assert (session.terminal.column, lines.count("a last word without an end")) == (26, 1)
    session.size(6, 30)
    session.until(lambda terminal: terminal.bottom == 5 and "traindx  " not in "\n".join(terminal.lines()))
    os.kill(session.process.pid, signal.SIGINT)
    session.to_the_end()
    assert session.process.returncode == -2
    assert "the program was interrupted" in "".join(session.terminal.everything())


@pytest.mark.parametrize("why", ["--quiet", "CI=1", "TERM=dumb"])
def test_no_status_where_nobody_can_see_it(tmp_path: Path, why: str) -> None:
    words = [*RUN, why, CHATTER, "0.8"] if why == "--quiet" else ["env", why, *RUN, CHATTER, "0.8"]
    session = Session(words, tmp_path)
    session.to_the_end()
    assert b"\x1b7" not in session.raw
    assert b"too early" not in session.raw
    assert (b"traindx" in session.raw) == (why != "--quiet")


def test_tail_reads_what_was_written_since(tmp_path: Path) -> None:
    tail = Tail(tmp_path)
    tail.poll()
    assert tail.step == 0
    launcher = Journal(tmp_path, 0, 1.7e9)
    launcher.append(b'{"t":0.1,"step":0,"out":"starting children\\n"}\n')
    tail.poll()
    assert (tail.step, tail.grown) == (0, True)
    journal = Journal(tmp_path, 1, 1.7e9)
    rows = {
        "t": [0.1, 0.2, 0.3],
        "step": [1, 2, 3],
        "loss": [3.0, 2.0, None],
        "lr": 0.5,
        "step_s": [0.1, 0.2, 0.3],
        "data_wait_s": [0.0, 0.1, 0.2],
    }
    journal.append(json.dumps({"rows": rows}).encode() + b"\n")
    tail.poll()
    assert tail.latest == {"t": 0.3, "step": 3, "loss": 2.0, "lr": 0.5, "step_s": 0.3, "data_wait_s": 0.2}
    assert tail.step_seconds == pytest.approx(0.2)
    assert tail.data_wait == pytest.approx(0.5)
    journal.append(
        b'{"t":0.4,"step":3,"val/loss":NaN}\n{"t":0.4,"step":3,"sample":{"input":{"mean":1}}}\nno json\n'
    )
    journal.append(b'{"rows":{"t":[0.5],"step":[4],"loss":')
    tail.poll()
    assert tail.step == 3
    assert str(tail.latest["val/loss"]) == "nan"
    journal.append(b'[1.5],"step_s":0.2}}\n')
    tail.poll()
    assert (tail.step, tail.latest["loss"]) == (4, 1.5)
    assert tail.step_seconds == pytest.approx(0.2)
    for _ in range(3):
        journal.append(b'{"t":0.4,"step":4,"out":"' + b"x" * 500_000 + b'"}\n')
    journal.append(b'{"rows":{"t":[0.6],"step":[5],"loss":[1.0]}}\n')
    tail.poll()
    assert tail.step == 5


def test_processes_that_live_and_die() -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    assert not alive(child)
    os.waitpid(child, 0)
    assert not alive(child)
    assert alive(os.getpid())
    assert alive(1)


def test_recording_on_a_terminal_holds_the_output(tmp_path: Path) -> None:
    session = Session([*RUN, "--quiet", CHATTER, "0.05"], tmp_path)
    session.to_the_end()
    kept = (recording(tmp_path) / "rank-0.jsonl").read_text()
    assert "8/8 [########]" in kept or "half of a" in kept
