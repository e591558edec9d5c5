"""Much of each step is spent on other work than training.

What remains of a step beside waiting for data, forward pass, backward pass and update: logging, saving,
copying to the host, metrics. Seen when it is {other_share} of the step at nearly every step. Under
{min_seconds} seconds a step it is not told: in toy trainings everything is overhead. Under {long_seconds}
seconds it is worth knowing (low) unless it is a {large_share} part of the step.

Silent about single slow steps (see step_time_outliers) and about validation, which is no part of a step.
Known mistake: data that is made by hand in the loop counts as other work.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Run, Runs
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Other work in the loop", needs=("forward_s", "backward_s"), family="host_work")
_PARTS = ("data_wait_s", "forward_s", "backward_s", "optimizer_s")


def detect(
    case: Case,
    step_s: Curve,
    *,
    other_share: float = 0.4,
    large_share: float = 0.7,
    min_seconds: float = 0.002,
    long_seconds: float = 0.01,
    quantile: float = 0.25,
    min_points: int = 10,
) -> Detected:
    parts = [curve for name in _PARTS if (curve := case.curve(name)) is not None]
    used = np.zeros(len(step_s))
    for curve in parts:
        # A part that was not told at a step is taken as it is near it.
        used += np.interp(step_s.x, curve.x, curve.y)
    other = (step_s.y - used)[1:]
    shares = other / np.maximum(step_s.y[1:], 1e-12)
    rest, part = float(np.median(other)), float(np.median(shares))
    if float(np.quantile(shares, quantile)) < other_share or rest < min_seconds:
        return None
    whole = float(np.median(step_s.y[1:]))
    return Finding(
        f"{percent(part)} of each step ({text(rest)} of {text(whole)} s) is other work than data, forward, "
        f"backward pass and update: logging, saving, copies to the host.",
        "slow_training",
        "medium" if rest >= long_seconds or part >= large_share else "low",
        float(step_s.x[0]),
        series="step_s",
        strength=strength(part, other_share, large_share),
        numbers={"other_share": round(100 * part)},
    )


def _run(step: float, other: float) -> Run:
    each = (step - other) / 3
    names = ("forward_s", "backward_s", "optimizer_s")
    parts = {name: noisy([each] * 60, 0.05, seed=at) for at, name in enumerate(names)}
    return run({"step_s": noisy([step] * 60, 0.05, seed=9), **parts})


def fires() -> Runs:
    yield _run(0.08, 0.06)


def silent() -> Runs:
    yield _run(0.08, 0.01)
    yield _run(0.002, 0.0015)
