"""Treatments that help nothing, and trainings that need none: what is advised then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from traindx.core.nouns import Diagnosis, Fix, Hypothesis, Problem
from traindx.experiment.api import found_program, source_of
from traindx.experiment.arms import Workshop
from traindx.experiment.runtime.change import Change
from traindx.experiment.treat.candidates import Candidate, CauseCandidates
from traindx.experiment.treat.request import TreatRequest
from traindx.experiment.treat.results import Treated
from traindx.experiment.treat.treatment import Treatment
from traindx.report.layout import Screen
from traindx.report.treatment import ending, treatment_markdown
from traindx.report.treatment_advice import recommendations, recommendations_of
from traindx.testing.sketch import run as sketch

RANDOM_LABELS = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
x, y = torch.randn(2000, 10), torch.randint(0, 4, (2000,))
model = nn.Sequential(nn.Linear(10, 16), nn.ReLU(), nn.Linear(16, 4))
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for step in range(120):
    rows = torch.randint(0, 1800, (64,))
    loss = F.cross_entropy(model(x[rows]), y[rows])
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 10 == 9:
        with torch.no_grad():
            val = F.cross_entropy(model(x[1800:]), y[1800:])
        print(f"step {step + 1} loss {loss.item():.4f} val_loss {val.item():.4f}")
"""
SWAP = Fix("swap_activation", "Replace ReLU by GELU.")
WEAKEN = Fix("lower_weight_decay", "Lower the weight decay.")


def quiet(what: str, facts: Mapping[str, Any]) -> None:
    del what, facts


@pytest.fixture(scope="module")
def in_vain(tmp_path_factory: pytest.TempPathFactory) -> Treated:
    """Two remedies that cannot help, tried on labels that mean nothing."""
    folder = tmp_path_factory.mktemp("vain")
    (folder / "train.py").write_text(RANDOM_LABELS)
    changes = (
        ("swap_activation", "swap_activation to=gelu"),
        ("lower_weight_decay", "set_weight_decay value=1e-6"),
    )
    candidates = tuple(
        Candidate(remedy, "saturating_activation", 0.5, (Change.parse(text),)) for remedy, text in changes
    )
    course = CauseCandidates("saturating_activation", 0.5, "not_learning", candidates, (), (SWAP, WEAKEN))
    program = found_program(folder / "train.py", ())
    with Workshop(program, jobs=1, time_budget=120, folder=folder) as shop:
        request = TreatRequest(seeds=1, rounds=1, healthy_too=True)
        treatment = Treatment(shop, source_of(program), (), request, quiet, lambda *_: [course])
        return treatment.run()


def test_it_says_when_to_stop_with_what_was_tried(in_vain: Treated) -> None:
    assert in_vain.status == "not treated"
    first, *questions = in_vain.stop
    assert first.startswith("2 remedies were tried and none helped")
    assert "swap_activation to=gelu" in first
    assert "set_weight_decay value=1e-06" in first
    assert {line.partition(":")[0].partition(" (")[0] for line in questions} == {
        "Data quality",
        "Formulation",
        "Architecture",
    }
    for text in (treatment_markdown(in_vain, ""), recommendations(in_vain)):
        assert "When to stop" in text
    assert any("stop" in line for line in ending(in_vain, "", (), Screen(100)))


def test_what_was_tried_in_vain_is_not_advised_by_hand(in_vain: Treated) -> None:
    assert all(one.instruction is None for one in in_vain.rounds)
    advice = " ".join(one.text for one in recommendations_of(in_vain))
    assert "GELU" not in advice
    assert "weight decay" not in advice


def test_a_healthy_training_gets_no_advice_that_contradicts_it() -> None:
    fix = Fix("lower_lr", "Lower lr to 0.001.", trials=("scale_lr factor=0.1",))
    hypothesis = Hypothesis("lr_too_high", "Learning rate too high", 0.6, (), (), (fix,))
    slight = Problem("oscillation", (), "low", None, "It swings a little.", (), (hypothesis,), 0.4)
    diagnosis = Diagnosis(sketch({"loss": [1.0, 0.5]}), "healthy", (slight,), ())
    treated = Treated("train.py", (), "healthy", "nothing calls for a change in this training.", diagnosis)
    assert recommendations_of(treated) == ()
    lines = "\n".join(ending(treated, "", (), Screen(100)))
    assert "too slight to act on" in lines
    assert "traindx try" not in lines
    assert "Lower lr" not in lines
    assert "Nothing is left" in recommendations(treated)
    ill = replace(
        treated, status="not treated", before=replace(diagnosis, problems=(replace(slight, severity="high"),))
    )
    assert [one.text for one in recommendations_of(ill)] == ["Lower lr to 0.001."]
