"""`--stop-on critical`: the training itself stops once its loss is NaN or Inf for good."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import traindx
from tests.run_scripts.calling import SCRIPTS, facts, recorded, recording
from tests.warm import ran
from traindx.observe.stopping import Stopping

pytest.importorskip("torch")


def trained(
    folder: Path, way: str, first: int, steps: int, *options: str, alone: bool = False
) -> tuple[int, float, str, int]:
    """The steps done, the seconds from the first bad loss to the end, what was said, and the exit code.

    `alone`: the command has a Python of its own, not a forked one.
    """
    words = (*options, str(SCRIPTS / "turns_nan.py"), way, str(first), str(steps))
    result = recorded(folder, *words) if alone else ran(folder, "-m", "traindx", "run", *words)
    done = re.search(r"steps (\d+) late ([\d.]+)", result.out)
    assert done, result.err
    return int(done[1]), float(done[2]), result.err, result.code


# In the first steps, among those taken sixteen at a time, and among those that are only counted.
@pytest.mark.parametrize("first", [5, 300, 4000])
def test_stops_at_the_first_nan(tmp_path: Path, first: int) -> None:
    done, late, said, code = trained(
        tmp_path, "for_good", first, 2_000_000, "--stop-on", "critical", alone=first == 5
    )
    assert first - 1 <= done <= first + 2
    assert late < 1
    assert code == 0
    ended = facts(recording(tmp_path))["ended"]
    assert ended["how"] == "stopped"
    assert ended["text"] == (
        f"stopped on a critical problem: the loss is nan at step {first} and the weights are NaN"
    )
    assert ended["text"] in said
    assert traindx.diagnose(recording(tmp_path)).problems[0].severity == "critical"


def test_an_infinite_loss_that_leaves_the_weights_alone_stops_the_third_time(tmp_path: Path) -> None:
    done, late, *_ = trained(tmp_path, "constant", 100, 2_000_000, "--stop-on", "critical", "--quiet")
    assert 101 <= done <= 104
    assert late < 1
    assert facts(recording(tmp_path))["ended"]["text"].endswith("for 3 steps in a row")


@pytest.mark.parametrize(
    ("way", "steps"), [("once", 300), ("guarded", 298), ("norm_guarded", 298), ("scaler", 300)]
)
def test_what_passes_stops_nothing(tmp_path: Path, way: str, steps: int) -> None:
    done, _, _, code = trained(tmp_path, way, 100, 300, "--stop-on", "critical", "--quiet")
    assert (done, code) == (steps, 0)
    assert facts(recording(tmp_path))["ended"]["how"] == "finished"


def test_all_ranks_stop_at_the_same_step(tmp_path: Path) -> None:
    first, second = Stopping(tmp_path, None), Stopping(tmp_path, None)
    first.decide("the loss is nan", 10, 2, 0.5)
    second.check(12, 2, 0.5)
    assert first.at == second.at > 12
    assert first.reason == second.reason == "the loss is nan"


def test_never_without_the_option(tmp_path: Path) -> None:
    done, *_ = trained(tmp_path, "for_good", 10, 300, "--quiet")
    assert done == 300
    assert facts(recording(tmp_path))["ended"]["how"] == "finished"


def test_fail_on_sets_the_exit_code_of_a_stopped_training(tmp_path: Path) -> None:
    options = ("--stop-on", "critical", "--fail-on", "critical", "--quiet")
    done, _, _, code = trained(tmp_path, "for_good", 50, 2_000_000, *options, alone=True)
    assert (done < 60, code) == (True, 1)
