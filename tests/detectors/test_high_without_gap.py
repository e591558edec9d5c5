"""How much a high loss without a gap weighs: a floor of noise that nobody could ask about is no trouble."""

from __future__ import annotations

from typing import Any

import pytest

from traindx.core.nouns import Finding
from traindx.core.units import detector
from traindx.evidence.case import Case
from traindx.evidence.inputs import first_answer
from traindx.testing.sketch import decay, noisy, run

_RECORDED = {"models": [{"class": "Net", "parameters": 900}]}


@pytest.mark.parametrize(
    ("held_out", "facts", "severity"),
    [
        ([0.82, 0.8, 0.81, 0.8, 0.81], {}, "medium"),
        ([0.9, 0.87, 0.84, 0.81, 0.79], {}, "low"),
        ([0.82, 0.8, 0.81, 0.8, 0.81], _RECORDED, "low"),
    ],
)
def test_weight(held_out: list[float], facts: dict[str, Any], severity: str) -> None:
    loss = noisy(decay(600, 1.02, 0.8, rate=9), 0.05)
    steps = [120.0 * at for at in range(1, 6)]
    case = Case(run({"loss": loss, "val/loss": (steps, held_out), "val/mae": [0.5]}, facts=facts))
    found = first_answer(detector("high_without_gap"), case)
    assert isinstance(found, Finding)
    assert found.severity == severity
