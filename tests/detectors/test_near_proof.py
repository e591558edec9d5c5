"""A finding that is all but proof of a cause makes a problem which that cause leads."""

from __future__ import annotations

import pytest

from traindx.core.units import Detector, detectors
from traindx.evidence.case import Case
from traindx.evidence.examine import examine
from traindx.knowledge.catalogue import causes
from traindx.knowledge.judge import judge
from traindx.source import Script
from traindx.testing.cases import cases_of
from traindx.testing.sketch import run

NEAR_PROOF = 5.0
# Proof of one of several causes that a log cannot tell apart.
SHARED = 1.0


def _weights(finding: str) -> dict[str, float]:
    return {
        cause.id: cause.evidence[finding].seen for cause in causes().values() if finding in cause.evidence
    }


UNITS = [unit for unit in detectors() if max(_weights(unit.id).values(), default=0.0) >= NEAR_PROOF]


@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.id)
def test_it_leads_to_its_cause(unit: Detector) -> None:
    weights = _weights(unit.id)
    meant = {cause for cause, bits in weights.items() if bits >= max(weights.values()) - SHARED}
    for told in cases_of(unit)[0]:
        case = Case(run({}), told) if isinstance(told, Script) else Case(told)
        seen = examine(case)
        finding = next(one for one in seen.findings if one.id == unit.id)
        if finding.symptom is None:
            continue
        problems = [one for one in judge(case, seen).problems if finding in one.findings]
        assert problems[0].hypotheses[0].cause in meant
