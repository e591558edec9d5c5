"""How long a trial of a remedy must be to decide whether it helps."""

from __future__ import annotations

from traindx.core.nouns import Diagnosis, Problem, Run
from traindx.knowledge.catalogue import causes, symptoms

_SHARE = 0.15
LEAST = 60
_BEYOND_ONSET = 1.2
_NEAR = (0.7, 1.7)


def horizon(diagnosis: Diagnosis, length: int) -> int:
    """How many steps decide whether a remedy helps: enough to pass the onset, a part of the training."""
    if not diagnosis.problems:
        return length
    problem = diagnosis.problems[0]
    steps = max(LEAST, (_asked_for(problem) or _SHARE) * length)
    # A sudden problem must be passed.
    if symptoms()[problem.symptom].sudden and problem.onset_step and diagnosis.run.axis == "step":
        steps = max(steps, _BEYOND_ONSET * problem.onset_step)
    return min(length, _validated(diagnosis.run, int(steps)))


def shows_late(problem: Problem) -> bool:
    """Whether only most of the training shows it, by the page of its symptom or of its likeliest cause."""
    return _asked_for(problem) is not None


def _asked_for(problem: Problem) -> float | None:
    """The share of the training that the pages ask for."""
    pages = (symptoms()[problem.symptom], causes().get(problem.hypotheses[0].cause))
    return max((page.trial for page in pages if page is not None and page.trial is not None), default=None)


def _validated(run: Run, steps: int) -> int:
    """A little more or less, so that the trial ends just after a validation."""
    series = run.series.get("val/loss")
    if series is None or series.axis != "step":
        return steps
    validations = [int(at) for at in series.steps if _NEAR[0] * steps <= at <= _NEAR[1] * steps]
    return min(validations, key=lambda at: abs(at - steps)) + 1 if validations else steps
