"""The training loss falls a little and beyond doubt; the validation loss does not come along at all.

A sign that the weights move and learn nothing that holds beyond the training data: labels that do not belong
to their inputs, or mere noise, are memorised bit by bit. Seen when the training loss falls by {min_fall} to
{max_fall} of its start while the validation loss, from its first evaluation on, has no fall that could be
told from its noise.

Silent when the training loss falls further (then see validation_parts), when the validation loss falls
too, when it stands to the last digit, and for RL and GAN losses.
Known mistakes: a validation set so small that its noise hides a small fall.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._frozen import frozen_from
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Only the training loss moves", family="creep", guards=("surrogate",))


def detect(
    case: Case,
    loss: Curve,
    val_loss: Curve,
    *,
    min_fall: float = 0.005,
    max_fall: float = 0.12,
    z_score: float = 3.5,
    validation_gain_share: float = 0.45,
    min_points: int = 6,
) -> Detected:
    if loss.course.starts_late:
        return Skipped("the start of the training")
    size, level = abs(loss.head), abs(val_loss.head)
    trend = loss.trend
    fell = -trend.change / size if size > 0 else 0.0
    if not min_fall < fell < max_fall or trend.z > -z_score or case.level.good or not level > 0:
        return None
    third = max(1, len(val_loss) // 3)
    gain = float(np.median(val_loss.y[:third]) - np.median(val_loss.y[-third:])) / level
    error = 1.25 * val_loss.noise * float(np.sqrt(2.0 / third)) / level
    # What training gained must have been visible on validation data, or nothing can be said.
    if 2.0 * error > fell or len(val_loss) - frozen_from(val_loss.y) >= 5:
        return Skipped("a validation loss that is less noisy and not frozen")
    if gain > validation_gain_share * fell or gain > 3.0 * error:
        return None
    return Finding(
        f"The training loss fell by {percent(fell)} beyond doubt (z {trend.z:.0f}) while the validation loss "
        f"went from {np.median(val_loss.y[:third]):.4g} to {np.median(val_loss.y[-third:]):.4g}: "
        "what is learned does not hold outside the training data.",
        step=float(loss.x[0]),
        end=float(loss.x[-1]),
        series=val_loss.name,
        numbers={"train_fell": fell, "val_fell": gain},
    )


def fires() -> Runs:
    yield run({"loss": np.linspace(2.307, 2.271, 20), "val/loss": noisy([2.31] * 20, 0.003)}, axis="epoch")
    val = (np.arange(1, 11) * 50.0, np.linspace(2.31, 2.36, 10))
    yield run({"loss": noisy(np.linspace(2.31, 2.15, 500), 0.01), "val/loss": val})


def silent() -> Runs:
    line = np.linspace(2.3078, 2.2966, 20)
    yield run({"loss": line, "val/loss": line - 0.006}, axis="epoch")
    yield run({"loss": noisy(decay(50, 2.3, 0.5), 0.02), "val/loss": noisy([2.31] * 50, 0.01)}, axis="epoch")
    yield run({"loss": noisy([2.3] * 50, 0.02), "val/loss": noisy([2.31] * 50, 0.01)}, axis="epoch")
