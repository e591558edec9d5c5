"""A loss of exactly 0.0 that stands for NaN.

Hugging Face's trainer replaces a NaN loss by zero when it logs (`logging_nan_inf_filter`), so a dead run
shows 0.0 to the last digit from some step on, mostly with a gradient norm of NaN or 0. Other trainers
that skip bad batches do alike.

Silent for reinforcement and preference learning, where zero is an ordinary value; for losses that came
down to zero by themselves, or were zero before and came back (a margin that is kept); for single zeros; and
when a validation loss or another measure of the error stays finite and moves.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Zero loss in place of NaN",
    family="nonfinite",
    explains=("plateau", "loss_flat", "loss_frozen", "memorised_unvalidated", "slow_decline"),
    guards=("surrogate", "preference"),
)


def detect(case: Case, loss: Curve, *, min_zeros: int = 3, fell_below: float = 0.02) -> Detected:
    values = loss.series.values
    zero = values == 0.0
    if not zero.size or not zero[-1]:
        return None
    last_good = np.flatnonzero(~zero)
    first = int(last_good[-1]) + 1 if last_good.size else 0
    count = values.size - first
    if count < min_zeros:
        return None
    norms = case.run.series.get("grad_norm")
    dead = False
    if norms is not None:
        after = norms.values[norms.steps >= loss.series.steps[first]]
        dead = bool(after.size) and bool(((after == 0) | ~np.isfinite(after)).mean() > 0.5)
    before = values[:first][np.isfinite(values[:first])]
    if _goes_on(case, float(loss.series.steps[first])):
        return None
    came_back = int((before == 0.0).sum()) >= 2
    fell_there = before.size >= 3 and float(np.median(before[-3:])) < fell_below * float(before.max())
    if came_back or fell_there or (not before.size and not dead):
        return None
    onset = float(loss.series.steps[first])
    led = f" after {before[-1]:.4g}" if before.size else ""
    signs = ", with gradient norms of NaN or 0" if dead else ""
    text = f"The loss is exactly 0 from {where(loss, onset)} on{led} ({count} values{signs}): a hidden NaN."
    strength = 1.0 if dead or "hf-trainer" in case.run.formats else 0.8
    return Finding(text, "nonfinite", "critical", onset, strength=strength, marks=(onset,))


def _goes_on(case: Case, onset: float) -> bool:
    """Whether other measures of the loss stay finite and move: then the logged zero is something else."""
    for curve in (case.val_loss, case.curve("mse"), case.curve("perplexity"), case.val("perplexity")):
        if curve is not None and (later := curve.y[curve.x > onset]).size >= 2 and np.ptp(later) > 0:
            return True
    return False


def fires() -> Runs:
    yield run({"loss": [*decay(30, 2.0, 0.8), *[0.0] * 20]})
    yield run({"loss": [0.0] * 20, "grad_norm": [float("nan")] * 20})


def silent() -> Runs:
    yield run({"loss": [0.0] * 20, "reward": [1.0] * 20}, traits=("rl",))
    yield run({"loss": [*decay(30, 2.0, 0.001, rate=12), *[0.0] * 10]})
    yield run({"loss": [*decay(20, 0.5, 0.02), 0.0, 0.03, 0.0, 0.0, 0.02, 0.05, 0.0, 0.0, 0.0, 0.0]})
