"""Trainings in which no torch optimizer steps: their updates are counted, and `--steps` ends them."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.run_scripts.calling import facts, printed, recorded
from tests.script_checks import Both, unchanged
from tests.script_runs import SCRIPTS, Runs, Script, run_ahead, script
from traindx.experiment.arms import Arm, Outcome, Workshop
from traindx.experiment.runtime.change import Change
from traindx.observe.program import find_script

pytest.importorskip("torch")

UPDATES, STEPS = 20, 12
WAYS = ("no_grad", "data_add", "accumulated", "gan")
MORE_WAYS = (
    "data_replaced autograd_grad new_tensors own_class grads_accumulated in_backward image unused_optimizer "
    "in_backward_optimizer"
).split()
ALL_WAYS = [*WAYS, *(pytest.param(way, marks=pytest.mark.long) for way in MORE_WAYS)]
_LOSS = re.compile(r"update (\d+) loss (\S+)")


class Trials:
    """One way to train at a time, in an arm of a trial, which is quick to start."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop
        self._done: dict[tuple[str, int | None], Outcome] = {}

    def __call__(self, way: str, steps: int | None = None) -> Outcome:
        if (way, steps) not in self._done:
            arm = Arm(f"{way} {steps}", args=(way, str(UPDATES)), steps=steps)
            self._done[way, steps] = self._shop.run_one(arm, timeout=60)
        return self._done[way, steps]

    def run(self, arm: Arm) -> Outcome:
        return self._shop.run_one(arm, timeout=60)


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trials]:
    keep = tmp_path_factory.mktemp("kept")
    with Workshop(find_script(str(SCRIPTS / "loops.py"), ()), keep=keep, jobs=2, folder=SCRIPTS) as shop:
        yield Trials(shop)


def _losses(outcome: Outcome) -> dict[int, float]:
    """What the script printed."""
    text = printed(outcome.recording / "rank-0.jsonl")
    return {int(update): float(loss) for update, loss in _LOSS.findall(text)}


def _recorded(outcome: Outcome) -> dict[int, float]:
    assert outcome.run is not None
    series = outcome.run.series["loss"]
    return dict(zip(series.steps.astype(int).tolist(), series.values.tolist(), strict=True))


@pytest.mark.parametrize("way", ALL_WAYS)
def test_each_update_is_a_step(trial: Trials, way: str) -> None:
    outcome = trial(way)
    assert outcome.ended == "finished", outcome.message
    assert outcome.steps == UPDATES
    recorded = _recorded(outcome)
    assert max(recorded) == UPDATES
    assert outcome.run is not None
    assert len(outcome.run.series["step_s"].values) >= UPDATES / 2
    if way in ("accumulated", "grads_accumulated", "gan"):
        assert sorted(recorded) == list(range(1, UPDATES + 1))
        return
    first = 8 if way == "unused_optimizer" else 1
    assert sorted(recorded) == list(range(first, UPDATES + 1))
    told = _losses(outcome)
    np.testing.assert_allclose([recorded[s] for s in recorded], [told[s] for s in recorded], rtol=2e-6)


@pytest.mark.parametrize("way", [*ALL_WAYS, "evaluated"])
def test_steps_end_a_trial(trial: Trials, way: str) -> None:
    outcome = trial(way, STEPS)
    assert (outcome.ended, outcome.message) == ("stopped", f"stopped after {STEPS} steps, as asked")
    assert outcome.steps == STEPS
    assert max(_recorded(outcome)) == STEPS
    # The second half of a round of a GAN is not done any more.
    assert max(_losses(outcome)) == (STEPS - 1 if way == "gan" else STEPS)


def test_the_loss_of_accumulated_gradients_is_that_of_the_step(trial: Trials) -> None:
    """The parts are divided by three: their sum is the step's, about three times what was printed last."""
    recorded, told = _recorded(trial("accumulated")), _losses(trial("accumulated"))
    steps = range(3, UPDATES + 1)
    ratio = np.mean([recorded[s] for s in steps]) / np.mean([told[s] for s in steps])
    assert 2 < ratio < 4


def test_gradients_that_are_only_looked_at_are_no_steps(trial: Trials) -> None:
    """Which of the last backward calls were steps cannot be known."""
    outcome = trial("evaluated")
    assert abs(outcome.steps - UPDATES) <= 1
    recorded, told = _recorded(outcome), _losses(outcome)
    common = [step for step in recorded if step in told]
    agree = [recorded[step] == pytest.approx(told[step], rel=1e-5) for step in common]
    assert sum(agree) >= UPDATES - 2


@pytest.mark.parametrize("way", ["caught", "caught_by_hand", "caught_once"])
def test_a_program_that_catches_everything_is_stopped(trial: Trials, way: str) -> None:
    outcome = trial(way, STEPS)
    assert (outcome.ended, outcome.message) == ("stopped", f"stopped after {STEPS} steps, as asked")
    assert outcome.code == 0
    ended = facts(outcome.recording)["ended"]
    assert (ended["how"], ended["text"]) == ("stopped", outcome.message)
    assert ended["step"] <= STEPS + 4
    text = printed(outcome.recording / "rank-0.jsonl")
    if way == "caught_once":
        assert text.endswith("evaluation\n" + text.splitlines()[-1] + "\n")
    else:
        assert text.count("caught Stopped\n") == 3
        assert "RESULT" not in text


def test_a_change_that_stops_a_training_stops_one_that_catches_everything(trial: Trials) -> None:
    changes = (Change("scale_lr", {"factor": 1e6}), Change("stop_at_divergence", {"factor": 10.0}))
    arm = Arm("diverged", args=("caught", "60"), changes=changes)
    outcome = trial.run(arm)
    assert outcome.ended == "stopped"
    assert outcome.message.startswith("the loss diverged")
    assert printed(outcome.recording / "rank-0.jsonl").count("caught Stopped\n") == 3


@pytest.mark.long
@pytest.mark.skipif(importlib.util.find_spec("keras") is None, reason="keras is not installed")
def test_keras_on_torch(trial: Trials) -> None:
    assert trial("keras").steps == UPDATES
    assert trial("keras", STEPS).steps == STEPS
    assert trial("keras", STEPS).ended == "stopped"


@pytest.mark.long
def test_an_optimizer_that_steps_in_compiled_code_is_stopped(tmp_path: Path) -> None:
    for name in ("compile_optimizer.py", "fingerprint.py"):
        (tmp_path / name).write_text((SCRIPTS / name).read_text())
    result = recorded(tmp_path, "--quiet", "--steps", 9, "--out", "rec", "compile_optimizer.py")
    assert result.code == 0, result.err
    ended = facts(tmp_path / "rec")["ended"]
    assert (ended["how"], ended["step"]) == ("stopped", 9)
    assert "step 9 loss" in result.out
    assert "step 10 loss" not in result.out


def test_run_stops_a_program_that_catches_everything(tmp_path: Path) -> None:
    """With its exit functions called, the diagnosis printed, and nothing but 0 for an exit code."""
    text = (SCRIPTS / "loops.py").read_text()
    head = "import atexit\natexit.register(print, 'the end')\n"
    (tmp_path / "train.py").write_text(text.replace("import sys\n", head + "import sys\n", 1))
    (tmp_path / "fingerprint.py").write_text((SCRIPTS / "fingerprint.py").read_text())
    done = subprocess.run(
        [sys.executable, "-m", "traindx", "run", "--steps", "12", "--out", "rec", "train.py", "caught", "99"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("caught Stopped\ncaught Stopped\ncaught Stopped\nthe end\n")
    assert "traindx: stopped after 12 steps, as asked\n" in done.stderr
    assert facts(tmp_path / "rec")["ended"]["how"] == "stopped"


# The same with and without recording.


@pytest.fixture(scope="module")
def runs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Runs]:
    with run_ahead(request, tmp_path_factory.mktemp("scripts")) as ahead:
        yield ahead


@pytest.fixture
def both(request: pytest.FixtureRequest, runs: Runs) -> Both:
    return unchanged(runs[request.param])


@script("loops.py data_add 20")
def test_values_are_only_looked_at(both: Both) -> None:
    assert both.facts["ended"]["step"] == UPDATES


@pytest.mark.long
@pytest.mark.parametrize(
    "both", [Script(f"loops.py {way} 20", slow=True) for way in MORE_WAYS], indirect=True
)
def test_every_way_is_left_as_it_is(both: Both) -> None:
    assert both.facts["ended"]["step"] == UPDATES
