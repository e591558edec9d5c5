"""The accuracy stands at what guessing gives, 1/K, from the first value to the last.

The number of classes K comes from the settings, from a loss that stands at ln K, or from a loss and an
accuracy that begin at ln K and 1/K. Training accuracy counts first; the validation accuracy when there is
no other, or when the training accuracy has risen a little while validation stays where guessing is and its
loss does not fall. The accuracy of small batches scatters: its mean counts, with its error.

Silent when K is not known, when the accuracy moves, when the loss falls by a tenth or more (then one of the
two is measured wrongly: see metric_disagrees), and for RL and GAN training.
Known mistakes: with unequal classes the share of the largest may happen to be 1/K of a wrong K.
"""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped, stats
from traindx.evidence.detectors._number_text import text
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Accuracy at chance",
    needs=("accuracy|val/accuracy|test/accuracy",),
    family="flat",
    guards=("surrogate",),
)


def detect(
    case: Case,
    accuracy: Curve | None = None,
    *,
    chance_tolerance: float = 0.2,
    max_loss_fall: float = 0.1,
    min_points: int = 3,
) -> Detected:
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
    known = case.task.classes
    if known is not None or loss is None or not len(loss):
        return known
    chances = [case.task.chance_near(level, tolerance=0.02) for level in (loss.head, last_level(loss.y))]
    counts = {c.classes for c in chances if c is not None}
    return counts.pop() if len(counts) == 1 and None not in chances and None not in counts else None


def fires() -> Runs:
    loss = noisy(np.full(200, 2.303), 0.01)
    accuracy = noisy(np.full(200, 0.1), 0.02, relative=False)
    yield run({"loss": loss, "accuracy": accuracy}, settings={"classes": 10})
    yield run({"val/loss": [1.391] * 12, "val/accuracy": [0.241] * 12})
    batches = np.random.default_rng(3).binomial(40, 0.1, 60) / 0.4
    yield run({"loss": noisy(np.full(60, 2.303), 0.005), "accuracy": batches})
    rises = {"accuracy": np.linspace(10.1, 15.4, 10), "loss": np.linspace(2.307, 2.27, 10)}
    held_out = {
        "val/accuracy": [9.4, 7.2, 9.8, 8.6, 9.6, 11.8, 11.0, 11.6, 8.8, 12.0],
        "val/loss": [2.31] * 10,
    }
    yield run({**rises, **held_out}, axis="epoch")
    yield run({"val/loss": [1.611, 1.611, 1.608], "val/accuracy": [19.5, 17.0, 21.5]})


def silent() -> Runs:
    yield run({"loss": decay(50, 2.3, 0.5), "accuracy": 0.9 - decay(50, 0.8, 0.0)}, settings={"classes": 10})
    yield run({"loss": noisy(np.full(50, 0.65), 0.01), "accuracy": [0.62] * 50}, settings={"classes": 2})
    yield run({"loss": decay(50, 2.3, 0.5), "accuracy": [0.1] * 50}, settings={"classes": 10})
    late = [0.1] * 40 + [0.3, 0.5, 0.6, 0.7, 0.7, 0.75, 0.8, 0.8, 0.8, 0.8] * 2
    yield run({"loss": [2.3] * 60, "accuracy": late}, settings={"classes": 10})
