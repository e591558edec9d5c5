"""The loss jumps about by a large part of its level and gets nowhere.

Batches differ, so every loss scatters; a training whose steps are right makes progress under that scatter.
Seen when the scatter from point to point is {scatter_share} of the level or more, over {min_points} values or
more, and the loss neither came down from its first to its last third nor holds a lower level anywhere by more
than that scatter's error.

Silent where the loss falls, where a score says the model does well or rises, for reinforcement learning and
GANs, and when the log begins in the middle of a training. Low where a trained model is tuned, which starts
near what it can reach.
So is it for scatter beyond {max_scatter} of the level: that is how losses of single samples with a heavy tail
look, or a loss that is zero between jumps.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._settings import perhaps_tuned
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Swings without progress",
    family="swings",
    explains=("loss_flat", "plateau"),
    guards=("surrogate",),
    counts_as="oscillation",
)


def detect(
    case: Case,
    loss: Curve,
    *,
    scatter_share: float = 0.25,
    medium_share: float = 0.3,
    max_scatter: float = 1.0,
    min_points: int = 20,
) -> Detected:
    if loss.course.starts_late:
        return Skipped("the start of the training (the log begins in the middle)")
    level = float(np.median(loss.y))
    scatters = level > 0 and scatter_share * level <= loss.noise <= max_scatter * level
    if not scatters or case.level.good or _improves(case):
        return None
    thirds = np.array_split(loss.y, 3)
    error = 1.25 * loss.noise * float(np.sqrt(2.0 * 3.0 / len(loss)))
    fall = float(np.median(thirds[0]) - np.median(thirds[2]))
    lowest = min(float(np.median(part)) for part in np.array_split(loss.y, 6))
    deeper = float(np.median(thirds[0])) - lowest > 4.0 * error
    if fall > 2.5 * error or deeper or loss.trend.z < -2.5:
        return None
    share = loss.noise / level
    low, high = (float(bound) for bound in np.quantile(loss.y, (0.1, 0.9)))
    return Finding(
        f"The loss jumps between {text(low)} and {text(high)} from point to point ({percent(share)} of its "
        f"level) over {len(loss):,} values and makes no progress: {text(float(np.median(thirds[0])))} in the "
        f"first third, {text(float(np.median(thirds[2])))} in the last.",
        "oscillation",
        "medium" if share >= medium_share and not perhaps_tuned(case) else "low",
        step=float(loss.x[0]),
        end=float(loss.x[-1]),
        strength=strength(share, scatter_share, 1.0),
        numbers={"swing": share},
    )


def _improves(case: Case) -> bool:
    """Whether a score rises beyond its noise, or the validation loss falls."""
    curves = [case.curve("accuracy"), case.val("accuracy"), case.val_loss]
    for curve in (curve for curve in curves if curve is not None and len(curve) >= 4):
        gain = curve.tail - curve.head if curve.goal == "higher" else curve.head - curve.tail
        if gain > 2.0 * curve.noise and stats.trend(curve.x, curve.y).p < 0.05:
            return True
    return False


def fires() -> Runs:
    jumps = np.random.default_rng(1).uniform(0.5, 1.9, 120)
    yield run({"loss": jumps})
    yield run({"loss": jumps[:30]}, axis="epoch")


def silent() -> Runs:
    yield run({"loss": noisy(decay(300, 3.0, 1.0), 0.4)})
    yield run({"loss": noisy([2.3] * 100, 0.05)})
    yield run({"loss": noisy([1.0] * 100, 0.4), "val/accuracy": np.linspace(0.3, 0.8, 100)})
