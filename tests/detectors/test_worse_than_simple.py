"""A model that is worse than a straight line is so from the start: no step of it is an onset."""

from __future__ import annotations

from traindx.engine import diagnose
from traindx.evidence.detectors.loss.worse_than_simple import fires


def test_it_does_not_begin_at_the_last_sample() -> None:
    for one in fires():
        problems = [p for p in diagnose(one).problems if any(f.id == "worse_than_simple" for f in p.findings)]
        assert problems
        assert all(problem.onset_step is None for problem in problems)
