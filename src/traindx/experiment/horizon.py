"""How long a trial of a remedy must be to tell whether it helps."""

from __future__ import annotations

from traindx.core.nouns import Diagnosis, Run

_SHARE = 0.15
# What shows only later is judged over more of the training.
_SHARES = {
    "overfitting": 1.0,
    "double_descent": 1.0,
    "memory_growth": 0.5,
    "plateau": 0.3,
    "underfitting": 0.3,
}
LEAST = 60
# Trouble that comes at a moment must be passed.
_SUDDEN = frozenset({"nonfinite", "divergence", "loss_spike", "exploding_gradients"})
_BEYOND_ONSET = 1.2
_NEAR = (0.7, 1.7)


def horizon(diagnosis: Diagnosis, length: int) -> int:
    """How many steps tell whether a remedy helps: enough to pass the trouble, a part of the training."""
    if not diagnosis.problems:
        return length
    problem = diagnosis.problems[0]
    share = _SHARES.get(problem.symptom, _SHARE)
    if problem.hypotheses[0].cause == "lr_schedule":
        share = 1.0  # a schedule shows at the end of a training only
    steps = max(LEAST, share * length)
    if problem.symptom in _SUDDEN and problem.onset_step and diagnosis.run.axis == "step":
        steps = max(steps, _BEYOND_ONSET * problem.onset_step)
    return min(length, _validated(diagnosis.run, int(steps)))


def _validated(run: Run, steps: int) -> int:
    """A little more or less, so that the trial ends just after a validation."""
    series = run.series.get("val/loss")
    if series is None or series.axis != "step":
        return steps
    near = [int(at) for at in series.steps if _NEAR[0] * steps <= at <= _NEAR[1] * steps]
    return min(near, key=lambda at: abs(at - steps)) + 1 if near else steps
