"""Training waits for data.

The share of the time per step that is spent waiting for the loader. Seen when it is {wait_share} or more at
three quarters of the logged points at least: the first batch of an epoch always waits and does not count.
When a wait exceeds its step, waits are taken as not included in the step's time. Waits under {min_seconds}
seconds a step are worth knowing (low): in toy trainings nearly everything is overhead; so are waits for
worker processes in a recording of few seconds. On a machine where several processes want each core, a wait
counts as so many times shorter.

Silent when the wait is short or shows at some points only.
"""

import numpy as np

from traindx.evidence.case import Case, Curve
from traindx.evidence.detector import Detected, Detector, Finding, FloatArray, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Waiting for data", family="data_wait")


def detect(
    case: Case,
    data_wait_s: Curve,
    step_s: Curve,
    *,
    wait_share: float = 0.3,
    full_strength_at: float = 0.6,
    quantile: float = 0.25,
    min_seconds: float = 0.005,
    min_seconds_with_workers: float = 0.02,
    min_total_seconds: float = 3.0,
    min_points: int = 10,
) -> Detected:
    steps, waits, seconds = stats.align(data_wait_s.x, data_wait_s.y, step_s.x, step_s.y)
    steps, waits, seconds = steps[1:], waits[1:], seconds[1:]
    fine = (waits >= 0) & (seconds > 0)
    if int(fine.sum()) < min_points:
        return Skipped(f"at least {min_points} values of the time per step and of the wait for data")
    waits, seconds = waits[fine], seconds[fine]
    apart = bool((waits > 1.02 * seconds).any())
    shares = waits / (waits + seconds if apart else seconds)
    if float(np.quantile(shares, quantile)) < wait_share:
        return None
    part = float(np.median(shares))
    whole = float(np.median(waits + seconds if apart else seconds))
    return Finding(
        text=f"{percent(part)} of the time per step is spent waiting for data: "
        f"{text(float(np.median(waits)))} of {text(whole)} s.",
        symptom="slow_training",
        severity="medium"
        if _costs(case, waits, min_seconds, min_seconds_with_workers, min_total_seconds)
        else "low",
        step=float(steps[0]),
        strength=strength(part, wait_share, full_strength_at),
        numbers={"wait_share": round(100 * part)},
    )


def _costs(case: Case, waits: FloatArray, brief: float, with_workers: float, total: float) -> bool:
    """Whether the waits are worth acting on. Workers start anew with each short epoch: that is no habit."""
    usual = float(np.median(waits)) / case.inside.crowding
    if not case.inside.recorded or not case.number("workers"):
        return usual >= brief
    return usual >= with_workers and usual * waits.size >= total


def fires() -> Runs:
    yield run({"data_wait_s": noisy([0.3] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})
    yield run({"data_wait_s": noisy([2.0] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})


def silent() -> Runs:
    yield run({"data_wait_s": noisy([0.02] * 60, 0.1), "step_s": noisy([0.6] * 60, 0.05)})
    first_batches = np.where(np.arange(100) % 2 == 0, 1.6, 0.0)
    yield run({"data_wait_s": first_batches, "step_s": 0.65 + first_batches})
    yield run({"data_wait_s": [32.0] + [0.004] * 60, "step_s": [0.05] * 61})
