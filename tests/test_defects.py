"""Measured defects: one problem for one cause, and what made a NaN."""

from __future__ import annotations

import pytest

from traindx.core.nouns import Event, Run
from traindx.engine import diagnose
from traindx.evidence.case import Case
from traindx.evidence.detectors._origin import origin
from traindx.testing.sketch import decay, run


def test_defects_that_come_down_to_one_cause_are_one_problem() -> None:
    model = {"class": "Net", "parameters": 10, "dropout": [0.5], "normalisation": {}}
    events = [
        Event("mode", "the model trains in eval mode", 17.0, {"training": False}),
        Event("validated_in_train_mode", "4 validation batches", 16.0),
    ]
    made = run({"loss": decay(160, 2.0, 0.2)}, facts={"models": [model]}, events=events)
    problems = [one for one in diagnose(made).problems if one.symptom == "silent_defect"]
    assert [one.hypotheses[0].cause for one in problems] == ["wrong_mode"]
    assert {finding.id for finding in problems[0].findings} == {
        "trains_in_eval_mode",
        "validates_in_train_mode",
    }


def _broken(step: float, losses: list[float], **data: object) -> Run:
    event = Event("nonfinite", str(data.pop("text", "")), step, data)
    return run({"loss": losses}, events=[event], facts={"version": 2})


@pytest.mark.parametrize(
    ("data", "step", "kind"),
    [
        ({"where": "loss", "operation": "log of 0"}, 9.0, "arithmetic"),
        (
            {"where": "loss", "operation": "exp overflow", "text": "exp overflow in ExpBackward0"},
            9.0,
            "arithmetic",
        ),
        ({"where": "input", "operation": "matrix product", "batch_nonfinite": 2}, 9.0, "input"),
        ({"where": "input", "operation": "multiplication", "batch_nonfinite": 0}, 9.0, "constant"),
        ({"where": "forward", "operation": "float16 overflow in matrix product"}, 9.0, "half"),
        ({"where": "input", "operation": "cast", "numbers": {"dtype": "float16", "max": 6e4}}, 9.0, "half"),
        ({"where": "forward", "operation": "float32 overflow in matrix product"}, 9.0, "growth"),
        ({"where": "forward", "operation": "float32 overflow in matrix product"}, 0.0, "init"),
        ({"where": "loss", "operation": "mean loss over no targets"}, 9.0, "empty"),
    ],
)
def test_what_made_it(data: dict[str, object], step: float, kind: str) -> None:
    found = origin(Case(_broken(step, [2.0, 1.5, 1.2] * 4 + [float("nan")] * 9, **data)))
    assert found is not None
    assert found.kind == kind


def test_a_bad_value_that_healed_is_less_grave_than_one_that_stays() -> None:
    told = {"where": "input", "operation": "matrix product", "batch_nonfinite": 2}
    stays = origin(Case(_broken(9.0, [2.0] * 9 + [float("nan")] * 20, **told)))
    heals = origin(Case(_broken(9.0, [2.0] * 9 + [float("nan")] + [1.9] * 20, **told)))
    assert stays is not None
    assert heals is not None
    assert (stays.severity, heals.severity) == ("critical", "medium")
