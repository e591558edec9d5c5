"""The accuracy stands at what guessing gives, 1/K, from the first value to the last.

The number of classes K comes from the settings, or from a loss that stands at ln K. Training accuracy
counts first; a validation accuracy alone only when no training accuracy is logged and its loss does not
fall either.

Silent when K is not known, when the accuracy moves, when the loss falls by a tenth or more (then one of the
two is measured wrongly: see metric_disagrees), and for RL and GAN training.
Known mistakes: with unequal classes the share of the largest may happen to be 1/K of a wrong K.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.case import Case, Curve
from traindx.core import Finding, Run, Severity, Skipped
from traindx.detectors._chance import chance_near
from traindx.detectors._numbers import text
from traindx.detectors._twins import NO_SURROGATE, class_count, last_level, shares
from traindx.units import Detector

DETECTOR = Detector(title="Accuracy at chance", needs=("accuracy|val/accuracy|test/accuracy",), family="flat")


def detect(case: Case, *, near: float = 0.2, fall: float = 0.1, least: int = 3) -> Finding | Skipped | None:
    if case.surrogate:
        return Skipped(NO_SURROGATE)
    own, held_out = case.curve("accuracy"), case.val("accuracy")
    curve = own if own is not None and len(own) >= least else held_out
    if curve is None or len(curve) < least:
        return Skipped(f"at least {least} values of the accuracy")
    part = shares(curve)
    loss = (case.loss if curve is own else case.val_loss) or case.loss
    classes = _classes(case, loss)
    if part is None:
        return None
    if classes is None:
        return Skipped("the number of classes in the configuration")
    chance = 1.0 / classes
    width = near * chance * (1.0 - chance)
    third = max(1, part.size // 3)
    noise = 1.25 * curve.noise / (100.0 if curve.y.max() > 1.5 else 1.0) / float(np.sqrt(third))
    levels = [float(np.median(part)), float(np.median(part[:third])), float(np.median(part[-third:]))]
    # Three evaluations on a small set scatter; the middle of all must be at chance, the ends near it.
    if abs(levels[0] - chance) > width or max(abs(v - chance) for v in levels) > 2.0 * width + 2.0 * noise:
        return None
    if any(_fell(each) > fall for each in (case.loss, case.val_loss)):
        return None
    severity: Severity = "high" if len(curve) >= 5 else "medium"
    beside = f", the loss at {text(last_level(loss.y))}" if loss is not None and len(loss) else ""
    return Finding(
        f"{curve.name} stays at {text(levels[0])} over {len(curve)} values{beside}: guessing among {classes} "
        f"classes gives {text(chance)}.",
        "not_learning",
        severity,
        step=float(curve.x[0]),
        end=float(curve.x[-1]),
        series=curve.name,
        strength=1.0 if class_count(case) else 0.8,
        numbers={"classes": classes, "chance_accuracy": chance, "accuracy": levels[0]},
    )


def _classes(case: Case, loss: Curve | None) -> int | None:
    """K as configured, or of the ln K at which the loss begins and ends."""
    known = class_count(case)
    if known is not None or loss is None or not len(loss):
        return known
    chances = [chance_near(case, level, tolerance=0.02) for level in (loss.head, last_level(loss.y))]
    counts = {c.classes for c in chances if c is not None}
    return counts.pop() if len(counts) == 1 and None not in chances and None not in counts else None


def _fell(curve: Curve | None) -> float:
    """The share of its start that a loss lost."""
    if curve is None or len(curve) < 3 or curve.head == 0:
        return 0.0
    return (curve.head - last_level(curve.y)) / abs(curve.head)


def fires() -> Iterator[Run]:
    from traindx.sketch import noisy, run

    loss = noisy(np.full(200, 2.303), 0.01)
    accuracy = noisy(np.full(200, 0.1), 0.02, relative=False)
    yield run({"loss": loss, "accuracy": accuracy}, settings={"classes": 10})
    yield run({"val/loss": [1.391] * 12, "val/accuracy": [0.241] * 12})
    yield run({"val/loss": [1.611, 1.611, 1.608], "val/accuracy": [19.5, 17.0, 21.5]})


def silent() -> Iterator[Run]:
    from traindx.sketch import decay, noisy, run

    yield run({"loss": decay(50, 2.3, 0.5), "accuracy": 0.9 - decay(50, 0.8, 0.0)}, settings={"classes": 10})
    yield run({"loss": noisy(np.full(50, 0.65), 0.01), "accuracy": [0.62] * 50}, settings={"classes": 2})
    yield run({"loss": decay(50, 2.3, 0.5), "accuracy": [0.1] * 50}, settings={"classes": 10})
    late = [0.1] * 40 + [0.3, 0.5, 0.6, 0.7, 0.7, 0.75, 0.8, 0.8, 0.8, 0.8] * 2
    yield run({"loss": [2.3] * 60, "accuracy": late}, settings={"classes": 10})
