"""The loss is flat by size, yet falls steadily and beyond doubt.

A sign that the weights do move, only too little: under {max_fall} of the start in the whole run, but
downwards from third to third, far beyond what the noise allows, with no bend. Nothing is cut off; the steps
are too short (a small rate, gradients clipped to nearly nothing).

Silent when the fall stops half-way, when it cannot be told from noise, when the validation loss does not
come along (see only_training_moves), in logs that begin in the middle of a training, and for RL and GAN
losses.
Known mistakes: a running mean over all steps so far drifts for long after a brief fall.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss creeps downwards", family="creep", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    *,
    max_fall: float = 0.02,
    min_fall: float = 2e-4,
    z_score: float = 4.5,
    third_share: float = 0.25,
    min_points: int = 12,
) -> Detected:
    if loss.course.starts_late:
        return Skipped("the start of the training")
    thirds = [float(np.median(part)) for part in np.array_split(loss.y, 3)]
    size = abs(loss.head)
    trend = loss.trend
    fall = -trend.change
    if not size > 0 or not min_fall * size < fall < max_fall * size or trend.z > -z_score:
        return None
    falls = thirds[0] - thirds[1], thirds[1] - thirds[2]
    error = 1.25 * loss.noise * float(np.sqrt(6.0 / len(loss)))
    if min(falls) < max(third_share * sum(falls), 3.0 * error) or not _validation_follows(case, fall / size):
        return None
    return Finding(
        f"The loss falls by only {percent(fall / size)} over {len(loss):,} values, but steadily (z "
        f"{trend.z:.0f}): {thirds[0]:.5g}, {thirds[1]:.5g}, {thirds[2]:.5g} by thirds. The weights move.",
        step=float(loss.x[0]),
        end=float(loss.x[-1]),
        numbers={"fall": fall, "z": round(trend.z, 1)},
    )


def _validation_follows(case: Case, share: float) -> bool:
    """Whether the validation loss falls as well, as far as it is there to tell."""
    val = case.val_loss
    if val is None or len(val) < 5:
        return True
    steps, values = val.coarse.step, val.coarse.median
    trend = stats.trend(steps, values)
    return -trend.change > 0.3 * share * abs(float(values[0])) and trend.z < -2.0


def fires() -> Runs:
    line = np.linspace(2.3078, 2.2966, 20)
    yield run({"loss": line, "val/loss": line - 0.006}, axis="epoch")
    yield run({"loss": noisy(np.linspace(4.9, 4.82, 1000), 0.01)})


def silent() -> Runs:
    yield run({"loss": noisy([2.3] * 500, 0.02)})
    yield run({"loss": noisy(decay(100, 2.3, 1.0), 0.02)})
    yield run({"loss": noisy(decay(200, 2.33, 2.3, rate=40), 0.0005)})
    yield run({"loss": np.linspace(2.307, 2.271, 20), "val/loss": noisy([2.31] * 20, 0.003)}, axis="epoch")
