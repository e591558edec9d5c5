"""Training fits well while validation is bad from the first evaluation on.

Seen when the training loss fell at least {train_fall_factor} times (or the training accuracy reached
{train_accuracy}) and yet the validation loss was, at every evaluation, at least twice what the untrained
model had (three times where training is logged once per epoch) and did not come down; when it never left the
level of the untrained model, {train_fall_factor} times and more above training in the end (medium); or when a
validation accuracy (mAP, F1) never left zero or chance. That is not overfitting setting in: validation data,
or the way they are fed, differ from training from the start.

With two or three evaluations only an accuracy below chance counts, and only as medium: batch-norm
statistics may lag behind in the first epochs.
Silent when the validation loss is falling or began near the untrained level, and for RL and GAN losses.
Known mistakes: losses that are summed for validation and averaged for training differ by a factor; they
are told apart only because such a validation loss falls too.
"""

import math
from collections.abc import Iterator

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text, times, where
from traindx.evidence.validation import evaluations, last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Validation bad from the start",
    needs=("loss|accuracy", "val/*|test/*"),
    family="generalisation",
    explains=("validation_parts",),
    guards=("surrogate",),
)

_SCORES = ("accuracy", "f1", "map50", "map")


def detect(
    case: Case,
    val_loss: Curve | None = None,
    *,
    train_fall_factor: float = 5.0,
    train_accuracy: float = 0.9,
    times_start: float = 2.0,
    score_at_zero: float = 0.02,
) -> Detected:
    if max((len(c) for c in (val_loss, *_val_scores(case)) if c is not None), default=0) < 2:
        return Skipped("at least two evaluations on validation data")
    fell = _fell(case)
    learned = max(_train_accuracy(case), default=0.0)
    if fell >= train_fall_factor or learned >= train_accuracy:
        finding = (
            _loss_above_start(case, fell, times_start)
            or _score_at_nothing(case, fell, learned, score_at_zero)
            or _loss_stays_at_start(case, fell, train_fall_factor)
        )
        if finding is not None:
            return finding
    return _below_chance(case)


def _fell(case: Case) -> float:
    """How many times the training loss fell."""
    train = case.loss
    if train is None or len(train) < 2 or not (train.y > 0).all():
        return 1.0
    return train.head / last_level(train.y)


def _train_accuracy(case: Case) -> Iterator[float]:
    for name in case.run.series:
        if name.startswith("accuracy") and "@" not in name and (curve := case.curve(name)) is not None:
            part = shares(curve)
            if part is not None:
                yield last_level(part)


def _val_scores(case: Case) -> Iterator[Curve]:
    """Validation scores, those of single heads too; never a top-k."""
    for name in case.run.series:
        split, _, metric = name.partition("/")
        head = metric.split("/")[0]
        if split in ("val", "test") and head in _SCORES and "@" not in name and "top" not in name:
            curve = case.curve(name)
            if curve is not None and shares(curve) is not None:
                yield curve


def _loss_above_start(case: Case, fell: float, above: float) -> Finding | None:
    train, val = case.loss, case.val_loss
    if train is None or val is None or len(train) < 2 or len(val) < 3 or not (train.y > 0).all():
        return None
    steps, values = evaluations(val)
    classes = case.task.configured_classes
    untrained = max(train.head, math.log(classes) if classes else 0.0)
    last = last_level(values)
    # A mean over the first epoch lies below what the untrained model had.
    factor = above if len(train) > 4 * len(val) else 1.5 * above
    if values.min() < max(factor * untrained, 0.9 * values[0]) or last < 0.9 * values[0]:
        return None
    good = max((last_level(part) for c in _val_scores(case) if (part := shares(c)) is not None), default=0.0)
    if good > 0.5:
        return None
    first, now = float(steps[0]), last_level(train.y)
    return Finding(
        f"The validation loss is {text(float(values[0]))} at its first evaluation ({where(val, first)}) and "
        f"{text(last)} at the end, never near the {text(untrained)} of the untrained model, while the "
        f"training loss fell {times(fell)} to {text(now)}.",
        "overfitting",
        "high" if len(val) >= 4 else "medium",
        step=first,
        end=float(steps[-1]),
        series=val.name,
        strength=strength(float(values.min()) / untrained, 1.0, 5.0),
        numbers={"val_first": float(values[0]), "val_last": last, "train_last": now, "gap": last - now},
        marks=(first,),
    )


def _loss_stays_at_start(
    case: Case, fell: float, fitted: float, *, near: float = 0.6, fall: float = 0.2, least: int = 6
) -> Finding | None:
    """From the first evaluation to the last hardly below the untrained model."""
    train, val = case.loss, case.val_loss
    if train is None or val is None or len(train) <= 4 * len(val) or not (train.y > 0).all():
        return None
    steps, values = evaluations(val)
    last, now = last_level(values), last_level(train.y)
    low = float(values.min()) if values.size else 0.0
    if values.size < least or low < max(near * train.head, (1 - fall) * float(values[0])):
        return None
    if last < fitted * now or last > 2.0 * train.head or last > (1 + fall) * low:
        return None  # the last: it was better before, which is overfitting
    first = float(steps[0])
    return Finding(
        f"The validation loss went from {text(float(values[0]))} to {text(last)} in {values.size} "
        f"evaluations, about where the untrained model stood ({text(train.head)}), while the training loss "
        f"fell {times(fell)} to {text(now)}.",
        "overfitting",
        "medium",
        step=first,
        end=float(steps[-1]),
        series=val.name,
        strength=0.4,
        numbers={"val_first": float(values[0]), "val_last": last, "train_last": now, "gap": last - now},
        marks=(first,),
    )


def _score_at_nothing(case: Case, fell: float, learned: float, zero: float) -> Finding | None:
    """A validation score at zero or chance throughout, though training is fitted."""
    classes = case.task.configured_classes
    for curve in _val_scores(case):
        part = shares(curve)
        if part is None or len(curve) < 4 or part.size == 0:
            continue
        limit = max(zero, 1.2 / classes if classes and "accuracy" in curve.name else 0.0)
        if float(part.max()) > limit or last_level(part) > limit:
            continue
        fits = (
            f"the training accuracy reached {text(learned)}"
            if learned >= 0.9
            else f"the training loss fell {times(fell)}"
        )
        first = float(curve.x[0])
        return Finding(
            f"{curve.name} never got above {text(float(part.max()))} in {len(curve)} evaluations, while "
            f"{fits}.",
            "overfitting",
            "high",
            step=first,
            end=float(curve.x[-1]),
            series=curve.name,
            numbers={"val_last": last_level(part), "best": float(part.max())},
            marks=(first,),
        )
    return None


def _below_chance(case: Case) -> Finding | None:
    """Validation accuracy below chance at every evaluation while training accuracy leaves it behind."""
    curve, own = case.val("accuracy"), case.curve("accuracy")
    part, trained = shares(curve), shares(own)
    if curve is None or own is None or part is None or trained is None or len(curve) < 2 or len(own) < 2:
        return None
    classes = case.task.configured_classes or _classes_by_loss(case)
    if classes is None:
        return None
    chance, highest, now = 1.0 / classes, float(part.max()), last_level(trained)
    if highest > 0.8 * chance or now < 1.5 * chance or now < 3.0 * highest or now <= float(trained[0]):
        return None
    first = float(curve.x[0])
    return Finding(
        f"The validation accuracy is {percent(highest)} at best in {len(curve)} evaluations, below the "
        f"{percent(chance)} that guessing gives with {classes} classes, while the training accuracy rose to "
        f"{percent(now)}.",
        "overfitting",
        "high" if len(curve) >= 5 else "medium",
        step=first,
        end=float(curve.x[-1]),
        series=curve.name,
        strength=0.6 if len(curve) < 5 else 0.9,
        numbers={"val_last": float(part[-1]), "chance_accuracy": chance, "train_last": now},
        marks=(first,),
    )


def _classes_by_loss(case: Case) -> int | None:
    """The number of classes whose chance level the validation loss stands at."""
    val = case.val_loss
    if val is None or not len(val) or not 0.6 < val.head < 6.9:
        return None
    classes = round(math.exp(val.head))
    spread = float(np.ptp(val.y)) / val.head
    return classes if abs(val.head / math.log(classes) - 1.0) <= 0.05 and spread <= 0.05 else None


def fires() -> Runs:
    rises = 20.0 + 40.0 * (1.0 - np.exp(-np.arange(15) / 4.0))
    yield run({"loss": decay(15, 2.5, 0.002, rate=8), "val/loss": noisy(rises, 0.03)}, axis="epoch")
    yield run(
        {
            "loss": decay(20, 2.0, 0.01, rate=8),
            "accuracy": 1 - decay(20, 0.6, 0.0, rate=8),
            "val/accuracy": [0.0] * 20,
        },
        axis="epoch",
    )
    yield run(
        {
            "loss": [1.732, 1.607],
            "val/loss": [1.892, 1.891],
            "accuracy": [0.19, 0.31],
            "val/accuracy": [0.075, 0.074],
        },
        axis="epoch",
    )


def silent() -> Runs:
    up = np.concatenate([decay(5, 1.4, 1.2), np.linspace(1.2, 3.8, 15)])
    yield run({"loss": decay(20, 1.4, 0.03), "val/loss": noisy(up, 0.02)}, axis="epoch")
    yield run({"loss": decay(1000, 0.06, 0.005), "val/loss": (np.arange(6) * 200, decay(6, 4.9, 2.5))})
    yield run({"loss": noisy(np.full(30, 3.1), 0.01), "val/loss": noisy(np.full(30, 12.4), 0.02, seed=1)})
    late = [0.1, 0.12, 0.5, 0.7, 0.8, 0.82]
    yield run(
        {"loss": decay(6, 2.3, 0.2), "accuracy": [0.4, 0.6, 0.8, 0.9, 0.92, 0.94], "val/accuracy": late},
        axis="epoch",
        settings={"classes": 10},
    )
