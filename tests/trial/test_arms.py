"""Arms of trials: they end, they are paired, and nothing of the user's is touched."""

from __future__ import annotations

import json
import os
import random
import shutil
from pathlib import Path

import numpy as np
import pytest

from traindx.experiment.arms import Arm, Outcome, Workshop
from traindx.experiment.pairing import difference
from traindx.experiment.runtime.change import Change
from traindx.observe.program import find_script

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")

SCRIPT = Path(__file__).parent / "scripts" / "draws.py"


def losses(outcome: Outcome) -> list[float]:
    assert outcome.run is not None, outcome.message
    return list(outcome.run.series["loss"].values)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    folder = tmp_path_factory.mktemp("plain")
    shutil.copy(SCRIPT, folder / "train.py")
    source = SCRIPT.read_text(encoding="utf-8")
    arms = [
        Arm("first"),
        Arm("again"),
        Arm("seed 1", seed=1),
        Arm("seed 1 again", seed=1),
        Arm("short", steps=5),
        Arm("lower", (Change.parse("scale_lr factor=0.1"),), steps=5),
        Arm("edited", sources={str(folder / "train.py"): source.replace("lr=0.1", "lr=0.01")}, steps=5),
    ]
    program = find_script(str(folder / "train.py"), ())
    with Workshop(program, jobs=2, folder=folder, keep=folder / "kept") as shop:
        found = {outcome.arm.name: outcome for outcome in shop.run(arms, timeout=60)}
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TRAINDX_FORK", "0")
        with Workshop(program, jobs=2, folder=folder, keep=folder / "kept") as shop:
            found["cold"] = shop.run_one(Arm("cold", steps=5), timeout=60)
    return found


def draws(outcome: Outcome) -> dict[str, object]:
    """What the script says it has drawn."""
    lines = (outcome.recording / "rank-0.jsonl").read_text(encoding="utf-8").splitlines()
    printed = "".join(json.loads(line).get("out", "") for line in lines)
    found: dict[str, object] = json.loads(printed)
    return found


def test_arms_of_one_seed_are_alike(outcomes: dict[str, Outcome]) -> None:
    assert losses(outcomes["first"]) == losses(outcomes["again"])
    assert losses(outcomes["seed 1"]) == losses(outcomes["seed 1 again"])
    assert losses(outcomes["first"]) != losses(outcomes["seed 1"])
    assert difference(outcomes["first"], outcomes["again"]) is None


def test_every_kind_of_generator_is_seeded_and_moved(outcomes: dict[str, Outcome]) -> None:
    first, again, other, other_again = (
        draws(outcomes[name]) for name in ("first", "again", "seed 1", "seed 1 again")
    )
    assert first == again
    assert other == other_again
    assert [name for name in first if first[name] == other[name]] == []
    assert outcomes["first"].seeded == {"numpy": ("5", "[1, 2]"), "torch": ("0",), "random": ("4",)}


def test_seeds_of_the_script_stay_as_they_are(outcomes: dict[str, Outcome]) -> None:
    drawn = draws(outcomes["first"])
    assert drawn["random_seeded"] == random.Random(4).random()
    assert drawn["rng_seeded"] == np.random.default_rng(5).random()
    assert drawn["rng_list"] == np.random.default_rng([1, 2]).random()


def test_a_fork_of_a_warm_process_is_the_same_run(outcomes: dict[str, Outcome]) -> None:
    assert losses(outcomes["cold"]) == losses(outcomes["short"])
    assert draws(outcomes["cold"]) == draws(outcomes["short"])


def test_a_change_is_made_and_told(outcomes: dict[str, Outcome]) -> None:
    lower = outcomes["lower"]
    assert losses(lower) == losses(outcomes["edited"])
    assert losses(lower) != losses(outcomes["short"])
    assert lower.changes["scale_lr"]
    assert not lower.failed


def test_an_arm_ends_after_its_steps(outcomes: dict[str, Outcome]) -> None:
    assert outcomes["first"].ended == "finished"
    assert outcomes["first"].steps == 30
    short = outcomes["short"]
    assert (short.ended, short.steps) == ("stopped", 5)
    assert losses(short) == losses(outcomes["first"])[:5]


def test_edited_sources_run_in_place_of_the_users(outcomes: dict[str, Outcome]) -> None:
    run = outcomes["edited"].run
    assert run is not None
    assert set(run.series["lr"].values) == {0.01}
    assert losses(outcomes["edited"])[0] == losses(outcomes["first"])[0]


def test_a_recording_names_the_users_script(outcomes: dict[str, Outcome]) -> None:
    run = outcomes["first"].run
    assert run is not None
    assert str(run.facts["script"]["path"]).endswith("/train.py")
    assert "traindx-trials" not in str(run.facts)
