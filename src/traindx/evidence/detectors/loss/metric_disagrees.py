"""Loss and accuracy tell different stories.

Three forms, on validation data and on training data. *Loss better, accuracy worse*: after its best
stretch the accuracy (or another score that a lower loss should raise: F1, AUC, IoU, ranking scores) falls
by more than its noise while the loss goes on falling; the loss does not measure what is wanted, or one of
the two is computed wrongly. *Loss falls, accuracy stands*: the loss
fell by half or more (or ran away below zero) and the accuracy is where it began. *Loss worse, accuracy
better*: the usual overconfidence of a model that overfits, reported as a sign.

Silent with fewer than {min_points} common points, for accuracies that are not shares or percent, near-perfect
ones, and for RL and GAN losses. Known mistakes: accuracy logged for a regression or an autoencoder says
nothing; that looks like the second form and is reported as low.
"""

import re

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text, where
from traindx.evidence.validation import last_level, levels_at, steps_on, turn_of
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Loss and accuracy disagree",
    needs=(
        "accuracy|val/accuracy|test/accuracy|val/accuracy/*|val/f1|val/auc|val/iou|val/map"
        "|ndcg|mrr|hit_rate|val/ndcg|val/mrr|val/hit_rate",
    ),
    family="metric",
    guards=("surrogate",),
)
# Recall and precision are not among them: one may well fall while the loss does.
_SCORES = re.compile(
    r"(?:val|test)/(?:accuracy/.+|f1|auc|auroc|iou|miou|dice|map)|(?:(?:val|test)/)?(?:ndcg|mrr|hit_rate)(?:/\d+)?"
)


def detect(
    case: Case,
    *,
    accuracy_drop: float = 0.05,
    loss_fall: float = 0.5,
    accuracy_change: float = 0.02,
    min_points: int = 8,
) -> Detected:
    pairs = [(case.val_loss, case.val("accuracy")), (case.loss, case.curve("accuracy"))]
    scores = [(case.val_loss, case.curve(name)) for name in case.names if _SCORES.fullmatch(name)]
    usable, further = (
        [
            (loss, accuracy)
            for loss, accuracy in group
            if loss is not None and accuracy is not None and min(len(loss), len(accuracy)) >= min_points
        ]
        for group in (pairs, scores)
    )
    if not usable and not further:
        return Skipped(f"a loss and an accuracy of the same data, {min_points} values each")
    for loss, score in further:
        if shares(score) is not None and (finding := _accuracy_falls(loss, score, accuracy_drop)) is not None:
            return finding
    for loss, accuracy in usable:
        if shares(accuracy) is None:
            continue
        finding = _accuracy_falls(loss, accuracy, accuracy_drop) or _accuracy_stands(
            case, loss, accuracy, loss_fall, accuracy_change
        )
        if finding is not None:
            return finding
    return _overconfident(*usable[0], accuracy_drop) if usable and shares(usable[0][1]) is not None else None


def _accuracy_falls(loss: Curve, accuracy: Curve, drop: float) -> Finding | None:
    turn = turn_of(accuracy)
    if turn.relative < drop or turn.z < 4.0:
        return None
    span = np.interp(np.array([turn.step, accuracy.x[-1]]), accuracy.x, steps_on(accuracy, loss))
    then, now = (float(v) for v in levels_at(loss, span))
    if then - now < max(drop * abs(then), 2.0 * loss.noise):
        return None
    severity: Severity = "medium" if turn.relative >= 2.0 * drop else "low"
    return Finding(
        f"Since {where(accuracy, turn.step)} {accuracy.name} fell from {text(-turn.best)} to "
        f"{text(-turn.last)} while {loss.name} went on falling from {text(then)} to {text(now)}.",
        "silent_defect",
        severity,
        step=turn.step,
        series=accuracy.name,
        strength=strength(turn.relative, drop, 0.4),
        numbers={"metric": accuracy.name, "best": -turn.best, "last": -turn.last},
        marks=(turn.step,),
    )


def _accuracy_stands(case: Case, loss: Curve, accuracy: Curve, fall: float, still: float) -> Finding | None:
    part = shares(accuracy)
    if part is None:
        return None
    third = part.size // 3
    early, late = float(np.median(part[:third])), float(np.median(part[-third:]))
    if abs(late - early) > still or float(np.ptp(part[: max(3, third)])) > 0.3 or not 0.0 <= late < 0.6:
        return None
    if stats.trend(accuracy.x, part).p < 0.001 and abs(late - early) > 0.5 * still:
        return None
    first, last = loss.head, last_level(loss.y)
    ran_away = last < 0 and abs(last) > 100.0 * abs(first)
    fell = (first - last) / abs(first) if first > 0 else 0.0
    if not ran_away and (fell < fall or first - last < 5.0 * loss.noise):
        return None
    classes = case.task.configured_classes
    at_chance = classes is not None and late < 1.3 / classes
    severity: Severity = "medium" if ran_away or at_chance else "low"
    way = "ran away below zero" if ran_away else f"fell by {percent(fell)}"
    return Finding(
        f"{loss.name} {way}, from {text(first)} to {text(last)}, while {accuracy.name} stayed where it began "
        f"({text(early)}, now {text(late)}).",
        "silent_defect",
        severity,
        step=float(accuracy.x[0]),
        series=accuracy.name,
        strength=1.0 if ran_away else 0.6,
        numbers={"metric": accuracy.name, "last": late},
    )


def _overconfident(loss: Curve, accuracy: Curve, drop: float) -> Finding | None:
    turn = turn_of(loss)
    if turn.relative < drop or turn.z < 4.0:
        return None
    here = np.interp(np.array([turn.step]), loss.x, steps_on(loss, accuracy))
    then, now = float(levels_at(accuracy, here)[0]), last_level(accuracy.y)
    if now - then < max(0.01 * abs(then), 2.0 * accuracy.noise):
        return None
    return Finding(
        f"{loss.name} rose from {text(turn.best)} ({where(loss, turn.step)}) to {text(turn.last)} while "
        f"{accuracy.name} improved from {text(then)} to {text(now)}: more right answers, and wrong ones "
        "given with more confidence.",
        step=turn.step,
        series=loss.name,
        strength=strength(turn.relative, drop, 0.5),
        numbers={"metric": accuracy.name, "best": turn.best, "last": turn.last},
        marks=(turn.step,),
    )


def fires() -> Runs:
    falls = noisy(np.concatenate([np.linspace(0.5, 0.8, 15), np.linspace(0.8, 0.6, 25)]), 0.005)
    yield run({"val/loss": noisy(decay(40, 2.0, 0.5, rate=3), 0.01), "val/accuracy": falls}, axis="epoch")
    runs_away = -np.geomspace(6e3, 1e8, 10)
    yield run({"loss": [-10.0, *runs_away], "accuracy": noisy(np.full(11, 0.32), 0.003, relative=False)})
    rises = noisy(np.concatenate([decay(10, 1.0, 0.6), np.linspace(0.6, 0.9, 30)]), 0.01)
    yield run({"val/loss": rises, "val/accuracy": noisy(np.linspace(0.6, 0.75, 40), 0.005)}, axis="epoch")


def silent() -> Runs:
    loss = noisy(decay(40, 2.0, 0.5), 0.02)
    yield run({"val/loss": loss, "val/accuracy": noisy(0.9 - decay(40, 0.6, 0.0), 0.01)}, axis="epoch")
    yield run({"loss": noisy(np.full(40, 2.3), 0.01), "accuracy": noisy(np.full(40, 0.1), 0.05)})
    yield run({"loss": decay(40, 9.0, 1.0), "accuracy": [1788.0] * 40})
    yield run({"loss": decay(40, 0.3, 0.01), "accuracy": noisy(np.full(40, 0.985), 0.001)})
