"""What a recording says of its circumstances: how crowded the machine was, what early stopping restored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from traindx.core.nouns import Finding, Run
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.evidence.inputs import first_answer
from traindx.testing.sketch import decay, noisy, run


def severity(name: str, curves: Mapping[str, Any], facts: Mapping[str, Any]) -> str:
    [unit] = [one for one in detectors() if one.id == name]
    seen: Run = run(curves, facts=facts)
    finding = first_answer(unit, Case(seen))
    assert isinstance(finding, Finding)
    return finding.severity


@pytest.mark.parametrize(("crowding", "expected"), [(1.0, "medium"), (1.2, "medium"), (9.0, "low")])
def test_waits_on_a_crowded_machine(crowding: float, expected: str) -> None:
    curves = {"data_wait_s": noisy([0.008] * 60, 0.1), "step_s": noisy([0.017] * 60, 0.05)}
    assert severity("data_wait", curves, {"crowding": crowding}) == expected


@pytest.mark.parametrize(("crowding", "expected"), [(1.0, "medium"), (9.0, "low")])
def test_slow_steps_on_a_crowded_machine(crowding: float, expected: str) -> None:
    seconds = noisy([0.5] * 400, 0.05)
    seconds[np.array([31, 57, 103, 160, 188, 240, 302, 331, 377, 390])] = 30.0
    assert severity("step_time_outliers", {"step_s": seconds}, {"crowding": crowding}) == expected


@pytest.mark.parametrize(("patience", "expected"), [(0, "high"), (3, "high"), (20, "low")])
def test_the_rise_before_early_stopping_restored_the_best(patience: int, expected: str) -> None:
    validation = np.concatenate([decay(12, 2.0, 0.8, rate=4), np.linspace(0.82, 1.6, 12)])
    curves = {"loss": noisy(decay(240, 2.0, 0.1, rate=5), 0.02), "val/loss": (np.arange(24) * 10, validation)}
    stopper = {"class": "EarlyStopping", "patience": patience, "restore_best_weights": True}
    assert severity("validation_parts", curves, {"callbacks": [stopper]}) == expected
