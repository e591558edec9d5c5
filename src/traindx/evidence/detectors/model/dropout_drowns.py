"""Dropout is strong, and the training gets no further than a constant answer.

Seen when a share of {min_dropout} or more is dropped, training no longer falls, or has gone on for
{long_points} losses, and training and validation loss both end at {loss_left} or more of what a constant
answer costs (ln K or the classes' own shares, the variance of the targets; of the first loss where no
recording has these). Validation is measured without dropout: a model that learned under it does well there.
Where there is none, the training loss, measured with the handicap on, must be nearer
({loss_left_unvalidated}).

Silent with good scores, where simple models tell less of the targets than this one, in a log that begins
late, for fewer than {min_points} losses, and for RL and GAN losses.
Known mistakes: a setting that means the share kept; targets that nothing can be learned from.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Dropout drowns the training",
    needs=("setting:dropout",),
    family="regularisation",
    guards=("surrogate",),
    explains=("plateau", "config_dropout_high"),
)


def detect(
    case: Case,
    loss: Curve,
    val_loss: Curve | None = None,
    *,
    min_dropout: float = 0.7,
    loss_left: float = 0.8,
    loss_left_unvalidated: float = 0.9,
    long_points: int = 400,
    min_points: int = 20,
) -> Detected:
    dropout = case.number("dropout")
    if dropout is None or not 0 <= dropout <= 1:
        return Skipped("dropout as a probability")
    if dropout < min_dropout or not (loss.y > 0).all() or loss.course.starts_late or _does_well(case):
        return None
    ends = [loss.tail, *([val_loss.tail] if val_loss is not None and len(val_loss) else [])]
    level, whose = _constant(case, loss)
    share = min(ends) / level
    if share < (loss_left if len(ends) > 1 else loss_left_unvalidated):
        return None
    if loss.course.still_falls() and len(loss) < long_points:
        return None
    also = f" and the validation loss at {text(ends[1])}" if len(ends) > 1 else ""
    return Finding(
        f"Dropout silences {percent(dropout)} of the units at every step, and the training loss ends at "
        f"{text(ends[0])}{also}: {percent(share)} of {whose} is left.",
        "underfitting",
        "medium",
        float(loss.x[0]),
        float(loss.x[-1]),
        loss.name,
        strength(dropout, 0.5 * min_dropout, 0.8),
        {"dropout": dropout, "unexplained": share},
    )


def _does_well(case: Case) -> bool:
    return case.level.good or case.level.answers_right or case.level.beats_simple()


def _constant(case: Case, train: Curve) -> tuple[float, str]:
    """The loss of a constant answer: the lowest that the loss is not well above; else the first losses."""
    known = [level for level in case.task.constant_losses if train.tail < 1.1 * level]
    if known:
        return min(known), f"the {text(min(known))} of a constant answer"
    first = float(np.median(train.y[:3]))
    return first, f"the first loss ({text(first)})"


def _run(dropout: float, end: float, validation: float, facts: bool = True) -> Run:
    loss = noisy(decay(200, 2.1, end, rate=20), 0.01)
    held_out = (np.arange(10.0) * 20 + 20, noisy([validation] * 10, 0.005))
    called = {"function": "cross_entropy", "reduction": "mean", "output_shape": "64x7", "target_shape": "64"}
    counts = {"0": 700, "1": 600, "2": 500, "3": 400, "4": 300, "5": 200, "6": 100}
    told = {"losses": [called], "classes": counts} if facts else {}
    return run({"loss": loss, "val/loss": held_out}, settings={"dropout": dropout}, facts=told)


def fires() -> Runs:
    yield _run(0.85, 1.75, 1.74)
    yield _run(0.7, 1.9, 1.8)
    yield _run(0.9, 1.8, 1.8, facts=False)


def silent() -> Runs:
    yield _run(0.5, 1.75, 1.74)
    yield _run(0.85, 1.75, 0.9)
    yield _run(0.85, 1.1, 1.1)
    yield _run(0.8, 0.3, 0.3, facts=False)
