"""The loss rests on the lowest value that a doubled softmax lets it reach.

Softmax applied twice leaves at best ln(e + C - 1) - 1 for C classes: 0.313 for two, 1.461 for ten, 3.622 for
a hundred. Wrong answers cost about 1 more each, so an accuracy shows how far above the floor the loss may be.
C comes from the settings, else from the ln C at which the loss began; else any usual C counts, but only
within {tight_tolerance:%} and with nearly all training answers right.

A loss that goes below the floor (of C, or of two classes when C is not known) rules the doubled softmax
out: then this was looked for and not seen. In between it cannot be told. Silent while the loss still falls,
with label smoothing (which has floors of its own), and for RL and GAN losses.
Known mistakes: label smoothing that is not told may lie at the same level.
"""

import math

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Loss at the floor of a doubled softmax",
    family="softmax_floor",
    guards=("surrogate", "elbo", "negative_loss", "preference", "si_sdr"),
)
_USUAL = (*range(2, 21), 100, 1000)


def detect(
    case: Case,
    loss: Curve,
    *,
    floor_tolerance: float = 0.01,
    tight_tolerance: float = 0.006,
    max_change: float = 0.01,
    min_accuracy: float = 0.97,
    min_points: int = 8,
) -> Detected:
    classes = _classes(case, loss)
    lowest = float(np.quantile(loss.y, 0.02))
    if lowest < _floor(classes or 2) * (1 - floor_tolerance):
        return None
    if (case.number("label_smoothing") or 0) > 0:
        return Skipped("a training without label smoothing, which has a floor of its own")
    accuracy = _accuracy(case)
    level = loss.tail
    third = loss.y[-max(4, len(loss) // 3) :]
    half = third.size // 2
    still = abs(float(np.median(third[:half]) - np.median(third[half:]))) <= max_change * level
    count = (
        _match(level, classes, accuracy, near=floor_tolerance, tight=tight_tolerance, right=min_accuracy)
        if still
        else None
    )
    if count is None:
        return Skipped("the number of classes, and a loss at rest" if classes is None else "a loss at rest")
    floor = _floor(count)
    certain = accuracy is not None and accuracy >= min_accuracy
    phrase = f", with {text(100 * accuracy)} % of the answers right" if accuracy is not None else ""
    return Finding(
        f"The loss rests at {level:.4f}{phrase}: softmax applied twice cannot get below ln(e + {count - 1}) "
        f"- 1 = {floor:.4f} with {count} classes.",
        symptom="plateau" if certain else None,
        step=float(loss.x[-third.size]),
        end=float(loss.x[-1]),
        strength=1.0 if certain else 0.6,
        numbers={"classes": count, "floor": floor},
    )


def _floor(classes: int) -> float:
    return math.log(math.e + classes - 1) - 1.0


def _match(
    level: float, classes: int | None, accuracy: float | None, *, near: float, tight: float, right: float
) -> int | None:
    """The number of classes on whose floor the level is."""
    if classes is not None:
        floor = _floor(classes)
        wrong = 0.0 if accuracy is None else 1.0 - accuracy
        if wrong > 0.3:
            return None
        slack = near * floor + (near if accuracy is not None else 0.0)
        return classes if -near * floor <= level - floor - wrong <= slack else None
    if accuracy is None or accuracy < right:
        return None
    expected = ((k, _floor(k)) for k in _USUAL)
    return next((k for k, floor in expected if abs(level - (1 - accuracy) - floor) <= tight * floor), None)


def _classes(case: Case, loss: Curve) -> int | None:
    classes = case.task.configured_classes
    if classes is not None:
        return classes
    start = case.task.chance_near(float(loss.y[0]), tolerance=0.01)
    return start.classes if start is not None and len(loss) > 20 else None


def _accuracy(case: Case) -> float | None:
    for curve in (case.curve("accuracy"), case.val("accuracy")):
        part = shares(curve)
        if part is not None and part.size >= 3:
            return last_level(part)
    return None


def fires() -> Runs:
    rise = 1.0 - decay(20, 0.4, 0.0, rate=20)
    yield run({"loss": decay(20, 1.9, 1.4612, rate=15), "accuracy": rise}, axis="epoch")
    loss = noisy(decay(300, 4.605, 3.63, rate=20), 0.002)
    yield run({"loss": loss}, settings={"classes": 100})
    yield run({"loss": noisy(decay(300, 2.303, 1.51, rate=20), 0.002), "accuracy": [0.95] * 300})


def silent() -> Runs:
    yield run({"loss": decay(50, 2.3, 0.05), "accuracy": [0.99] * 50}, settings={"classes": 10})
    yield run({"loss": decay(50, 2.3, 0.886, rate=20), "accuracy": [1.0] * 50}, axis="epoch")
    yield run({"loss": noisy([1.4612] * 50, 0.001), "accuracy": [0.45] * 50}, axis="epoch")
    yield run({"loss": noisy(decay(300, 3.1, 1.46, rate=20), 0.01)})
