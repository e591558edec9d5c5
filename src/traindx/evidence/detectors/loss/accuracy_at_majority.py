"""The accuracy is one and the same value from the start: one class is predicted for everything.

Two forms. *Constant*: nearly all values are equal (to 0.002) from the first on, at a level that is not
chance. *Base rate*: with two classes, an accuracy that scatters around a level p without any trend while
the loss stands at the entropy of p, which is what a model that knows only the share of the classes gets.

Silent when the loss falls by a fifth or more, when the accuracy is at chance (see accuracy_at_chance), with
fewer than {min_points} values, in resumed runs, when the loss is lost to NaN, and for RL and GAN training.
Low from 0.9 on: a good model that hardly changes has a constant accuracy too. Known mistakes: accuracy logged
for a regression is constant for no reason.
"""

import math

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Accuracy at the majority class",
    needs=("accuracy|val/accuracy|test/accuracy",),
    family="majority",
    guards=("surrogate",),
)


def detect(
    case: Case,
    accuracy: Curve | None = None,
    *,
    equal_share: float = 0.8,
    max_loss_fall: float = 0.2,
    min_points: int = 6,
    entropy_tolerance: float = 0.05,
) -> Detected:
    held_out = case.val("accuracy")
    curves = [(accuracy, case.loss), (held_out, case.val_loss or case.loss)]
    enough = [(curve, loss) for curve, loss in curves if curve is not None and len(curve) >= min_points]
    if not enough:
        return Skipped(f"at least {min_points} values of the accuracy")
    for curve, loss in enough:
        if (
            shares(curve) is None
            or curve.course.starts_late
            or (loss is not None and loss.broken > len(loss))
        ):
            continue
        # What one part of the data shows means nothing while the other moves.
        if any(_moved(other, max_loss_fall) for other in (case.loss, case.val_loss)):
            continue
        found = _constant(case, curve, loss, equal_share) or _base_rate(case, curve, loss, entropy_tolerance)
        if found is not None:
            return found
    return None


def _moved(loss: Curve | None, fall: float) -> bool:
    """Whether a loss fell by a good share, or anything else happens that a constant model cannot do."""
    if loss is None or len(loss) < 3 or loss.head == 0:
        return False
    return (loss.head - last_level(loss.y)) / abs(loss.head) > fall


def _constant(case: Case, curve: Curve, loss: Curve | None, same: float) -> Finding | None:
    part = shares(curve)
    if part is None:
        return None
    middle = float(np.median(part))
    equal = float((np.abs(part - middle) <= 0.002).mean())
    if (
        equal < same
        or float(np.ptp(part)) > 0.02
        or not 0.02 < middle < 0.98
        or _at_chance(case, middle, loss)
    ):
        return None
    return Finding(
        f"{curve.name} is {text(middle)} in {percent(equal)} of its {len(curve)} values, from the start: one "
        "class is predicted for every sample.",
        "not_learning",
        "medium" if middle < 0.9 else "low",
        step=float(curve.x[0]),
        end=float(curve.x[-1]),
        series=curve.name,
        strength=0.9 if middle < 0.9 else 0.4,
        numbers={"accuracy": middle},
    )


def _base_rate(case: Case, curve: Curve, loss: Curve | None, entropy: float) -> Finding | None:
    part = shares(curve)
    classes = case.task.configured_classes
    if part is None or loss is None or min(len(curve), len(loss)) < 20 or classes not in (None, 2):
        return None
    middle = float(np.median(part))
    begins_even = abs(loss.head / math.log(2.0) - 1.0) < 0.25
    if not 0.52 < middle < 0.9 or not (classes == 2 or begins_even) or stats.trend(curve.x, part).p < 0.05:
        return None
    knows = -middle * math.log(middle) - (1.0 - middle) * math.log(1.0 - middle)
    ends = (float(np.median(loss.y[len(loss) // 4 :])), last_level(loss.y))
    if max(abs(level / knows - 1.0) for level in ends) > entropy:
        return None
    return Finding(
        f"{curve.name} stays around {text(middle)} and the loss at {text(ends[1])}, the entropy of "
        f"such shares ({text(knows)}): the model knows how common the classes are and no more.",
        "not_learning",
        "medium",
        step=float(curve.x[0]),
        end=float(curve.x[-1]),
        series=curve.name,
        strength=0.7,
        numbers={"accuracy": middle, "entropy": knows},
    )


def _at_chance(case: Case, level: float, loss: Curve | None) -> bool:
    near = (
        case.task.chance_near(last_level(loss.y), tolerance=0.02) if loss is not None and len(loss) else None
    )
    classes = case.task.configured_classes or (near.classes if near is not None else None)
    return classes is not None and abs(level - 1.0 / classes) <= 0.2 / classes * (1.0 - 1.0 / classes)


def fires() -> Runs:
    yield run({"loss": noisy(np.full(20, 0.6), 0.01), "accuracy": [0.712] * 20}, axis="epoch")
    yield run({"loss": noisy(np.full(20, 0.6), 0.01), "val/accuracy": [83.1] * 20}, axis="epoch")
    loss = noisy(np.full(300, 0.611), 0.05)
    yield run({"loss": loss, "accuracy": noisy(np.full(300, 0.7), 0.1, seed=5, relative=False).clip(0, 1)})


def silent() -> Runs:
    yield run({"loss": decay(50, 0.7, 0.2), "accuracy": noisy(0.9 - decay(50, 0.3, 0.0), 0.01)}, axis="epoch")
    yield run({"loss": decay(20, 2.0, 0.1), "accuracy": [0.0] * 20}, axis="epoch")
    yield run({"val/loss": [1.391] * 12, "val/accuracy": [0.241] * 12})
    yield run({"loss": noisy(np.full(20, 0.3), 0.01), "val/accuracy": noisy(np.full(20, 0.9), 0.01)})
    yield run({"loss": [float("nan")] * 30, "accuracy": [0.0987] * 30}, axis="epoch")
