"""The gradient norm is NaN or Inf.

Tells where it first happened, how often, and whether it stayed. With a loss scaler (fp16) a lone Inf is
ordinary: the step is skipped and the scale halved. So single ones are a sign only; it is trouble when
they last to the end or make up a large part of the run.

Silent when the norm is never finite while the loss goes on falling: then it is not measured.
Known mistakes: a logger that writes NaN for a missing value.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import percent, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Gradient norm NaN or Inf", family="nonfinite_gradients")


def detect(case: Case, grad_norm: Curve, *, bad_share: float = 0.2, bad_streak: int = 3) -> Detected:
    if not grad_norm.broken:
        return None
    bad = ~grad_norm.finite
    steps = grad_norm.series.steps[bad]
    to_the_end = int(np.argmax(grad_norm.finite[::-1])) if grad_norm.finite.any() else bad.size
    if not grad_norm.finite.any() and (bad.size < bad_streak or case.harm.learned()):
        return Skipped("a gradient norm that is measured (every logged one is NaN or Inf)")
    lasting = to_the_end >= bad_streak
    much = grad_norm.broken >= bad_streak and bad.mean() >= bad_share
    severity: Severity = "critical" if lasting and not case.harm.learned() else "high"
    trouble = lasting or much
    kind = "NaN" if np.isnan(grad_norm.series.values[bad]).all() else "Inf"
    first = float(steps[0])
    times = "once" if grad_norm.broken == 1 else f"{grad_norm.broken} times of {bad.size}"
    end = f"and stays so for the last {to_the_end} values" if lasting else f"({percent(float(bad.mean()))})"
    return Finding(
        text=f"The gradient norm is {kind} {times}, first at {where(grad_norm, first)} {end}.",
        symptom="nonfinite" if trouble else None,
        severity=severity if trouble else "low",
        step=first,
        end=float(steps[-1]),
        strength=1.0 if trouble else 0.5,
        numbers={"onset": first, "grad_nonfinite": grad_norm.broken},
        marks=tuple(float(step) for step in steps[:20]),
    )


def fires() -> Runs:
    lone = noisy([1.0] * 60, 0.2)
    lone[30] = np.inf
    yield run({"grad_norm": lone, "loss": decay(60, 3.0, 1.0)})
    lost = noisy([1.0] * 60, 0.2)
    lost[40:] = np.nan
    yield run({"grad_norm": lost, "loss": np.where(np.arange(60) < 40, 1.0, np.nan)})


def silent() -> Runs:
    yield run({"grad_norm": noisy([1.0] * 60, 0.2)})
    yield run({"grad_norm": [np.nan] * 60, "loss": noisy(decay(60, 3.0, 1.0), 0.02)})
    yield run({"grad_norm": [np.inf]})
