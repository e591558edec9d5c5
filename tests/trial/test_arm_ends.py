"""However a script behaves, its arm ends, with a clear sentence, and leaves nothing running."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections import defaultdict
from pathlib import Path

import pytest

from tests.trial.places import state
from traindx.experiment.arms import Arm, Outcome, Workshop
from traindx.experiment.keeper_client import sweep
from traindx.experiment.pairing import difference
from traindx.experiment.sandbox import processes
from traindx.observe.program import find_script

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")

SCRIPTS = Path(__file__).parent / "scripts"
QUICK = ("reads", "silent", "starts", "unseeded", "unseeded", "clock", "clock", "raises", "dies")
ENDLESS = ("hangs", "slow", "waits")

Outcomes = dict[str, list[Outcome]]


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> Outcomes:
    folder = tmp_path_factory.mktemp("ends")
    shutil.copy(SCRIPTS / "ends.py", folder / "train.py")
    arms = [Arm("needs"), *(Arm(how, args=("--how", how)) for how in QUICK)]
    endless = [Arm(how, args=("--how", how)) for how in ENDLESS]
    found: Outcomes = defaultdict(list)
    with Workshop(find_script(str(folder / "train.py"), ()), jobs=3, folder=folder) as shop:
        for outcome in shop.run(arms, timeout=60):
            found[outcome.arm.name].append(outcome)
        for outcome in shop.run(endless, timeout=1.5):
            found[outcome.arm.name].append(outcome)
    return found


@pytest.mark.parametrize(
    ("how", "ended", "said"),
    [
        (
            "needs",
            "crashed",
            "the script wants other arguments: train.py: error: the following arguments are",
        ),
        ("reads", "crashed", "the script reads standard input, which is empty in a trial (EOFError"),
        ("silent", "never trained", "the script ended without an error and without a training step"),
        ("raises", "crashed", "the script failed after 3 steps: ValueError: the labels"),
        ("dies", "crashed", "the system killed it, as when memory runs out"),
        ("hangs", "timed out", "not one training step was done when its 1.5 s were over"),
        ("slow", "timed out", "not one training step was done when its 1.5 s were over"),
        ("waits", "timed out", "ended after 5 steps: its 1.5 s were over"),
        ("starts", "finished", "finished by itself: 20 steps"),
    ],
)
def test_every_end_has_its_sentence(outcomes: Outcomes, how: str, ended: str, said: str) -> None:
    (outcome,) = outcomes[how]
    assert outcome.ended == ended
    assert outcome.message.startswith(said)
    assert "\n" not in outcome.message
    assert outcome.seconds < 10


def test_nothing_that_a_script_started_stays(outcomes: Outcomes) -> None:
    assert outcomes["starts"]
    assert processes.end_marked(os.path.dirname(os.path.dirname(outcomes["starts"][0].recording))) == 0
    assert not outcomes["starts"][0].recording.exists()


def test_what_the_script_does_not_seed_is_seeded(outcomes: Outcomes) -> None:
    assert difference(*outcomes["unseeded"]) is None
    assert outcomes["unseeded"][0].seeded == {}


def test_a_script_that_ignores_seeds_is_told(outcomes: Outcomes) -> None:
    said = difference(*outcomes["clock"])
    assert said is not None
    assert said.startswith("two runs of seed 0 differ from the first step on (loss ")


# The workshop itself is interrupted or killed.

ENDLESS_SCRIPT = """
import subprocess, sys, time

open("log.txt", "a").write("x")
subprocess.Popen(["sleep", "999"], start_new_session=True)
subprocess.Popen([sys.executable, "-c", "import time; time.sleep(999)"])
time.sleep(999)
"""
DRIVER = """
import sys
from traindx.observe.program import find_script
from traindx.experiment.arms import Arm, Workshop

def told(arm, steps, seconds):
    print("running", flush=True)

with Workshop(find_script("train.py", ()), jobs=2) as shop:
    print(shop._bench.folder, flush=True)
    list(shop.run([Arm("first"), Arm("second")], progress=told))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_all_ends_with_the_workshop(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "train.py").write_text(ENDLESS_SCRIPT, encoding="utf-8")
    (tmp_path / "log.txt").write_text("mine")
    before = state(tmp_path)
    driver = subprocess.Popen(
        [sys.executable, "-c", DRIVER],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )
    assert driver.stdout is not None
    folder = driver.stdout.readline().strip()
    for _ in range(4):
        assert driver.stdout.readline() == "running\n"
    os.killpg(driver.pid, number)
    driver.wait(40)
    driver.stdout.close()
    _gone(folder)
    assert state(tmp_path) == before


def _gone(folder: str) -> None:
    """The keeper has ended everything and removed the scratch, within seconds."""
    until = time.monotonic() + 30
    while os.path.exists(folder) and time.monotonic() < until:
        time.sleep(0.05)
    assert not os.path.exists(folder)
    assert processes.end_marked(folder) == 0


def test_scratch_of_the_dead_is_swept(tmp_path: Path) -> None:
    me = os.getpid()
    ours, gone = tmp_path / f"{me}-{processes.began(me)}-x", tmp_path / f"{me}-1-y"
    for folder in (ours, gone):
        (folder / "a1" / "root").mkdir(parents=True)
    (tmp_path / "kept.txt").write_text("mine")
    (gone / "a1" / "link").symlink_to(tmp_path / "kept.txt")
    (gone / "a1" / "root").chmod(0o500)
    sweep(str(tmp_path))
    assert ours.exists()
    assert not gone.exists()
    assert (tmp_path / "kept.txt").exists()
