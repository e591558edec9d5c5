"""Arms of trials: they end, they are paired, and nothing of the user's is touched."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from traindx.record.program import find_script
from traindx.trial.arms import Arm, Outcome, Workshop

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")

TRAIN = """
import torch
torch.manual_seed(0)
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    x = torch.randn(8, 4)
    loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def project(folder: Path, script: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "train.py").write_text(script)
    return folder


def losses(outcome: Outcome) -> list[float]:
    assert outcome.run is not None, outcome.said
    return list(outcome.run.series["loss"].values)


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Outcome]:
    folder = project(tmp_path_factory.mktemp("plain"), TRAIN)
    before = os.getcwd()
    os.chdir(folder)
    try:
        edited = {str(folder / "train.py"): TRAIN.replace("lr=0.1", "lr=0.01")}
        arms = [
            Arm("first"),
            Arm("again"),
            Arm("seed 1", seed=1),
            Arm("seed 1 again", seed=1),
            Arm("short", steps=5),
            Arm("edited", sources=edited),
        ]
        with Workshop(find_script("train.py", ()), jobs=2) as shop:
            found = {outcome.arm.name: outcome for outcome in shop.run(arms)}
    finally:
        os.chdir(before)
    return found


def test_arms_of_one_seed_are_alike(outcomes: dict[str, Outcome]) -> None:
    assert losses(outcomes["first"]) == losses(outcomes["again"])
    assert losses(outcomes["seed 1"]) == losses(outcomes["seed 1 again"])
    assert losses(outcomes["first"]) != losses(outcomes["seed 1"])
    assert outcomes["first"].seeded == {"torch": ("0",)}


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
