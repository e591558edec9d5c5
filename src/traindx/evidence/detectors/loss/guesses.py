"""An accuracy of guesses."""

import math

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    Severity,
    Skipped,
    stats,
)
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run


@Detector(
    "Accuracy at chance", needs=("accuracy|val/accuracy|test/accuracy",), family="flat", guards=("surrogate",)
)
def accuracy_at_chance(
    case: Case,
    accuracy: Curve | None = None,
    *,
    chance_tolerance: float = 0.2,
    max_loss_fall: float = 0.1,
    min_points: int = 3,
) -> Detected:
    """The accuracy stands at what guessing gives, 1/K, from the first value to the last.

    The number of classes K comes from the settings, from a loss that stands at ln K, or from a loss and an
    accuracy that begin at ln K and 1/K. Training accuracy counts first; the validation accuracy when there
    is no other, or when the training accuracy has risen a little while validation stays where guessing is
    and its loss does not fall. The accuracy of small batches scatters: its mean counts, with its error.

    Silent when K is not known, when the accuracy moves, when the loss falls by a tenth or more (then one of
    the two is measured wrongly: see metric_disagrees), and for RL and GAN training. Known mistakes: with
    unequal classes the share of the largest may happen to be 1/K of a wrong K.
    """
    held_out = case.val("accuracy")
    curves = [curve for curve in (accuracy, held_out) if curve is not None and len(curve) >= min_points]
    curves = [curve for curve in curves if shares(curve) is not None]
    if not curves:
        return Skipped(f"at least {min_points} values of the accuracy")
    classes = _classes(case, case.loss or case.val_loss) or _classes(case, case.val_loss)
    if classes is None:
        return Skipped("the number of classes in the configuration")
    losses = [curve for curve in (case.loss, case.val_loss) if curve is not None and len(curve) >= 3]
    if any(curve.head - last_level(curve.y) > max_loss_fall * abs(curve.head) for curve in losses):
        return None
    for curve in curves:
        level = _level_at_chance(curve, 1.0 / classes, chance_tolerance)
        if level is not None:
            return _finding(case, curve, level, classes)
        part = shares(curve)
        if part is not None and last_level(part) > 3.0 / classes:
            return None
    return None


def _level_at_chance(curve: Curve, chance: float, near: float) -> float | None:
    """The mean accuracy if it is chance all along: in the whole, and in the first and the last third."""
    part = shares(curve, chance=chance)
    if part is None:
        return None
    width = near * chance * (1.0 - chance)
    third = max(1, part.size // 3)
    spread = stats.noise(part)
    for values, room in ((part, 1.0), (part[:third], 2.0), (part[-third:], 2.0)):
        error = min(2.0 * spread / float(np.sqrt(values.size)), 0.5 * chance)
        if abs(float(values.mean()) - chance) > room * width + error:
            return None
    return float(part.mean())


def _finding(case: Case, curve: Curve, level: float, classes: int) -> Finding:
    severity: Severity = "high" if len(curve) >= 5 else "medium"
    own = case.loss if curve.name.startswith("accuracy") else case.val_loss
    loss = own or case.loss
    phrase = f", the loss at {text(last_level(loss.y))}" if loss is not None and len(loss) else ""
    return Finding(
        f"{curve.name} stays at {text(level)} over {len(curve)} values{phrase}: guessing among {classes} "
        f"classes gives {text(1.0 / classes)}.",
        "not_learning",
        severity,
        step=float(curve.x[0]),
        end=float(curve.x[-1]),
        series=curve.name,
        strength=1.0 if case.task.configured_classes else 0.8,
        numbers={"classes": classes, "chance_accuracy": 1.0 / classes, "accuracy": level},
    )


def _classes(case: Case, loss: Curve | None) -> int | None:
    """K as configured, as the first losses and accuracies tell, or of the ln K the loss stands at."""
    classes = case.task.classes
    if classes is not None or loss is None or not len(loss):
        return classes
    chances = [case.task.chance_near(level, tolerance=0.02) for level in (loss.head, last_level(loss.y))]
    counts = {c.classes for c in chances if c is not None}
    return counts.pop() if len(counts) == 1 and None not in chances and None not in counts else None


@Detector(
    "Accuracy at the majority class",
    needs=("accuracy|val/accuracy|test/accuracy",),
    family="majority",
    guards=("surrogate",),
)
def accuracy_at_majority(
    case: Case,
    accuracy: Curve | None = None,
    *,
    equal_share: float = 0.8,
    max_loss_fall: float = 0.2,
    min_points: int = 6,
    entropy_tolerance: float = 0.05,
) -> Detected:
    """The accuracy is one and the same value from the start: one class is predicted for everything.

    Two forms. *Constant*: nearly all values are equal (to 0.002) from the first on, at a level that is not
    chance. *Base rate*: with two classes, an accuracy that scatters around a level p without any trend while
    the loss stands at the entropy of p, which is what a model that knows only the share of the classes gets.

    Silent when the loss falls by a fifth or more, when the accuracy is at chance (see accuracy_at_chance),
    with fewer than {min_points} values, in resumed runs, when the loss is lost to NaN, and for RL and GAN
    training. Low from 0.9 on: a good model that hardly changes has a constant accuracy too. Known mistakes:
    accuracy logged for a regression is constant for no reason.
    """
    held_out = case.val("accuracy")
    curves = [(accuracy, case.loss), (held_out, case.val_loss or case.loss)]
    usable = [(curve, loss) for curve, loss in curves if curve is not None and len(curve) >= min_points]
    if not usable:
        return Skipped(f"at least {min_points} values of the accuracy")
    for curve, loss in usable:
        if (
            shares(curve) is None
            or curve.course.starts_late
            or (loss is not None and loss.broken > len(loss))
        ):
            continue
        # What one part of the data shows means nothing while the other moves.
        if any(_moved(part_loss, max_loss_fall) for part_loss in (case.loss, case.val_loss)):
            continue
        answer = _constant(case, curve, loss, equal_share) or _base_rate(case, curve, loss, entropy_tolerance)
        if answer is not None:
            return answer
    return None


def _moved(loss: Curve | None, fall: float) -> bool:
    """Whether a loss fell by a good share, or anything else happens that a constant model cannot do."""
    if loss is None or len(loss) < 3 or loss.head == 0:
        return False
    return (loss.head - last_level(loss.y)) / abs(loss.head) > fall


def _constant(case: Case, curve: Curve, loss: Curve | None, equal_share: float) -> Finding | None:
    part = shares(curve)
    if part is None:
        return None
    middle = float(np.median(part))
    equal = float((np.abs(part - middle) <= 0.002).mean())
    if (
        equal < equal_share
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
    shares_entropy = -middle * math.log(middle) - (1.0 - middle) * math.log(1.0 - middle)
    ends = (float(np.median(loss.y[len(loss) // 4 :])), last_level(loss.y))
    if max(abs(level / shares_entropy - 1.0) for level in ends) > entropy:
        return None
    return Finding(
        f"{curve.name} stays around {text(middle)} and the loss at {text(ends[1])}, the entropy of "
        f"such shares ({text(shares_entropy)}): the model knows how common the classes are and no more.",
        "not_learning",
        "medium",
        step=float(curve.x[0]),
        end=float(curve.x[-1]),
        series=curve.name,
        strength=0.7,
        numbers={"accuracy": middle, "entropy": shares_entropy},
    )


def _at_chance(case: Case, level: float, loss: Curve | None) -> bool:
    near = (
        case.task.chance_near(last_level(loss.y), tolerance=0.02) if loss is not None and len(loss) else None
    )
    classes = case.task.configured_classes or (near.classes if near is not None else None)
    return classes is not None and abs(level - 1.0 / classes) <= 0.2 / classes * (1.0 - 1.0 / classes)


def cases() -> Cases:
    loss = noisy(np.full(200, 2.303), 0.01)
    accuracy = noisy(np.full(200, 0.1), 0.02, relative=False)
    yield from accuracy_at_chance.fires(run({"loss": loss, "accuracy": accuracy}, settings={"classes": 10}))
    yield from accuracy_at_chance.fires(run({"val/loss": [1.391] * 12, "val/accuracy": [0.241] * 12}))
    batches = np.random.default_rng(3).binomial(40, 0.1, 60) / 0.4
    yield from accuracy_at_chance.fires(run({"loss": noisy(np.full(60, 2.303), 0.005), "accuracy": batches}))
    rises = {"accuracy": np.linspace(10.1, 15.4, 10), "loss": np.linspace(2.307, 2.27, 10)}
    held_out = {
        "val/accuracy": [9.4, 7.2, 9.8, 8.6, 9.6, 11.8, 11.0, 11.6, 8.8, 12.0],
        "val/loss": [2.31] * 10,
    }
    yield from accuracy_at_chance.fires(
        run({**rises, **held_out}, axis="epoch"),
        run({"val/loss": [1.611, 1.611, 1.608], "val/accuracy": [19.5, 17.0, 21.5]}),
    )
    yield from accuracy_at_chance.silent(
        run({"loss": decay(50, 2.3, 0.5), "accuracy": 0.9 - decay(50, 0.8, 0.0)}, settings={"classes": 10}),
        run({"loss": noisy(np.full(50, 0.65), 0.01), "accuracy": [0.62] * 50}, settings={"classes": 2}),
        run({"loss": decay(50, 2.3, 0.5), "accuracy": [0.1] * 50}, settings={"classes": 10}),
    )
    late = [0.1] * 40 + [0.3, 0.5, 0.6, 0.7, 0.7, 0.75, 0.8, 0.8, 0.8, 0.8] * 2
    yield from accuracy_at_chance.silent(
        run({"loss": [2.3] * 60, "accuracy": late}, settings={"classes": 10})
    )
    yield from accuracy_at_majority.fires(
        run({"loss": noisy(np.full(20, 0.6), 0.01), "accuracy": [0.712] * 20}, axis="epoch"),
        run({"loss": noisy(np.full(20, 0.6), 0.01), "val/accuracy": [83.1] * 20}, axis="epoch"),
    )
    loss = noisy(np.full(300, 0.611), 0.05)
    yield from accuracy_at_majority.fires(
        run({"loss": loss, "accuracy": noisy(np.full(300, 0.7), 0.1, seed=5, relative=False).clip(0, 1)})
    )
    yield from accuracy_at_majority.silent(
        run({"loss": decay(50, 0.7, 0.2), "accuracy": noisy(0.9 - decay(50, 0.3, 0.0), 0.01)}, axis="epoch"),
        run({"loss": decay(20, 2.0, 0.1), "accuracy": [0.0] * 20}, axis="epoch"),
        run({"val/loss": [1.391] * 12, "val/accuracy": [0.241] * 12}),
        run({"loss": noisy(np.full(20, 0.3), 0.01), "val/accuracy": noisy(np.full(20, 0.9), 0.01)}),
        run({"loss": [float("nan")] * 30, "accuracy": [0.0987] * 30}, axis="epoch"),
    )
