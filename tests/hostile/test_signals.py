"""Signals from outside and inside: the program behaves as under plain Python, and its recording is whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.run_scripts.calling import facts
from traindx.observe.signals import raised_by_handler

PYTHON = (sys.executable,)
QUIET = (sys.executable, "-m", "traindx", "run", "--quiet", "--out", "rec")
TOLD = (sys.executable, "-m", "traindx", "run", "--out", "rec")

WAITS = """
import os, signal, sys, time

heard = []

def handler(number, frame):
    heard.append(number)
    print("heard", len(heard))

if "handler" in sys.argv:
    signal.signal(signal.SIGUSR1, handler)
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
for step in range(1, 31):
    print("step", step, "loss", 1 / step)
print("ready", flush=True)
while len(heard) < 3:
    time.sleep(0.01)
print("done")
"""
TRAINS = """
import signal, sys, torch
from fingerprint import result
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
for step in range(1, 901):
    loss = model(torch.randn(16, 8)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 100:
        print("ready", flush=True)
    if step % 300 == 0:
        print("step", step, "loss", loss.item())
result(model, optimizer)
"""


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


def signalled(command: tuple[str, ...], folder: Path, numbers: list[int], pause: float = 0.15) -> Ended:
    """Run, send the signals when it is ready, one after another, and wait for the end."""
    folder.mkdir(exist_ok=True)
    process = subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert process.stdout is not None
    before = b""
    while b"ready" not in before:
        line = process.stdout.readline()
        assert line, process.communicate()
        before += line
    for number in numbers:
        time.sleep(pause)
        with contextlib.suppress(ProcessLookupError):
            os.kill(process.pid, number)
    out, err = process.communicate(timeout=120)
    return Ended(process.returncode, (before + out).decode(), err.decode())


def both(tmp_path: Path, script: str, words: tuple[str, ...], numbers: list[int]) -> tuple[Ended, Ended]:
    for name in ("plain", "recorded"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text(script)
        shared = Path(__file__).parents[1] / "scripts" / "fingerprint.py"
        (tmp_path / name / "fingerprint.py").write_text(shared.read_text())
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(signalled, (*PYTHON, "train.py", *words), tmp_path / "plain", numbers)
        recorded = signalled((*QUIET, "train.py", *words), tmp_path / "recorded", numbers)
        return other.result(), recorded


def bare(ended: Ended, folder: Path) -> tuple[int, str, str]:
    return ended.code, ended.out, ended.err.replace(str(folder), ".")


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT", "SIGQUIT", "SIGUSR2", "SIGKILL"])
def test_signals_end_the_program_as_ever(tmp_path: Path, name: str) -> None:
    number = getattr(signal, name)
    plain, recorded = both(tmp_path, WAITS, (), [number])
    assert bare(recorded, tmp_path / "recorded") == bare(plain, tmp_path / "plain")
    assert plain.code == -number
    (run,) = traindx.read(tmp_path / "recorded" / "rec").runs
    assert run.series["loss"].steps[-1] == 30


def test_handlers_of_the_program_are_called(tmp_path: Path) -> None:
    plain, recorded = both(tmp_path, WAITS, ("handler",), [signal.SIGUSR1] * 3)
    assert recorded == plain
    assert (plain.code, plain.out[-29:]) == (0, "heard 1\nheard 2\nheard 3\ndone\n")


def test_a_handler_that_exits(tmp_path: Path) -> None:
    plain, recorded = both(tmp_path, WAITS, ("handler",), [signal.SIGUSR1, signal.SIGTERM])
    assert recorded == plain
    assert plain.code == 7
    assert facts(tmp_path / "recorded" / "rec")["ended"]["text"] == "exit code 7"


@pytest.mark.long
def test_stopped_and_continued(tmp_path: Path) -> None:
    plain, recorded = both(tmp_path, TRAINS, (), [signal.SIGSTOP, signal.SIGCONT] * 2)
    assert recorded == plain
    assert plain.code == 0
    (run,) = traindx.read(tmp_path / "recorded" / "rec").runs
    assert facts(tmp_path / "recorded" / "rec")["ended"]["step"] == 900
    assert run.series["step_s"].values.min() > 0


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", -15), ("SIGHUP", -1), ("SIGKILL", -9)])
def test_how_it_was_killed_is_written(tmp_path: Path, name: str, code: int) -> None:
    (tmp_path / "train.py").write_text(WAITS)
    ended = signalled((*TOLD, "train.py"), tmp_path, [getattr(signal, name)])
    assert ended.code == code
    assert f"traindx: the program was killed ({name}); this is what it had recorded\n" in ended.err
    told = facts(tmp_path / "rec")["ended"]
    assert (told["how"], told["text"]) == ("killed", name)
    assert sorted(path.name for path in (tmp_path / "rec").iterdir()) == ["rank-0.jsonl", "run.json"]


@pytest.mark.parametrize("pause", [0.02, 0.2])
def test_interrupted_twice(tmp_path: Path, pause: float) -> None:
    """The second one cuts the report short, not the recording."""
    (tmp_path / "train.py").write_text(WAITS)
    ended = signalled((*TOLD, "train.py"), tmp_path, [signal.SIGINT] * 3, pause)
    assert ended.code == -2
    assert ended.err.count("\nKeyboardInterrupt\n") == 1
    assert "Exception ignored" not in ended.err
    assert facts(tmp_path / "rec")["ended"]["how"] == "interrupted"


ALARMS = """
import signal, sys, time, torch
torch.set_num_threads(1)

class Alarm(Exception):
    pass

raised = caught = done = 0
armed = False

def handler(number, frame):
    global raised, armed
    if armed:
        armed = False
        raised += 1
        raise Alarm

signal.signal(signal.SIGALRM, handler)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.BatchNorm1d(16), torch.nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters())
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.randn(320, 8)), batch_size=16)
until = time.monotonic() + float(sys.argv[1])
signal.setitimer(signal.ITIMER_REAL, 0.0053, 0.0053)
while time.monotonic() < until:
    try:
        armed = True
        for (x,) in loader:
            loss = model(x).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            done += 1
            if done % 50 == 0:
                print("step", done)
        armed = False
    except Alarm:
        caught += 1
    except RuntimeError as error:
        # An alarm within torch's own no_grad leaves that on.
        armed = False
        assert "does not require grad" in str(error), error
        torch.set_grad_enabled(True)
signal.setitimer(signal.ITIMER_REAL, 0)
print("raised", raised, "caught", caught, "done", done)
"""


def alarms(tmp_path: Path, seconds: float) -> tuple[int, int, int]:
    (tmp_path / "train.py").write_text(ALARMS)
    command = [*QUIET, "--budget", "20%", "train.py", str(seconds)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    words = done.stdout.splitlines()[-1].split()
    return int(words[1]), int(words[3]), int(words[5])


def test_what_a_handler_raises_reaches_the_program(tmp_path: Path) -> None:
    """Also where it interrupts the recorder."""
    last = 0.0
    for number in range(3):  # once in a dozen an alarm hits where no further loss is recorded
        folder = tmp_path / str(number)
        folder.mkdir()
        raised, caught, done = alarms(folder, 1.5)
        assert raised == caught > 50
        assert done > 50
        (run,) = traindx.read(folder / "rec").runs
        assert facts(folder / "rec")["ended"]["how"] == "finished"
        last = run.series["loss"].steps[-1]
        if last > 50:
            break
    assert last > 50


@pytest.mark.long
def test_what_thousands_of_alarms_raise_reaches_the_program(tmp_path: Path) -> None:
    raised, caught, _ = alarms(tmp_path, 30)
    assert raised == caught > 1000


def test_arrays_among_the_arguments_do_not_hide_a_handler() -> None:
    """What was interrupted may be a call with arrays in a tuple: they are not compared with the frame."""
    arrays = (np.zeros(3), np.ones(3))

    def handler(number: int, frame: object) -> None:
        assert frame is not None
        raise RuntimeError(f"mine, {number}")

    def interrupted(*args: object) -> None:
        assert args
        handler(14, sys._getframe())

    def failed(*args: object) -> None:
        raise RuntimeError(f"ours, {len(args)}")

    for call, expected in ((interrupted, True), (failed, False)):
        with pytest.raises(RuntimeError) as caught:
            call(*arrays)
        assert raised_by_handler(caught.value) is expected
