"""Waits for data count as long as they would be on a machine of the training's own."""

from __future__ import annotations

import pytest

from traindx.core.nouns import Finding
from traindx.core.units import detectors
from traindx.evidence.case import Case
from traindx.evidence.inputs import looked
from traindx.testing.sketch import noisy, run

[DATA_WAIT] = [one for one in detectors() if one.id == "data_wait"]


@pytest.mark.parametrize(("crowding", "severity"), [(1.0, "medium"), (1.2, "medium"), (9.0, "low")])
def test_a_crowded_machine(crowding: float, severity: str) -> None:
    curves = {"data_wait_s": noisy([0.008] * 60, 0.1), "step_s": noisy([0.017] * 60, 0.05)}
    finding = looked(DATA_WAIT, Case(run(curves, facts={"crowding": crowding})))
    assert isinstance(finding, Finding)
    assert finding.severity == severity
