"""A score is poor from the first evaluation to the last.

Accuracy, F1, recall, R2, IoU and their kin say what a loss only hints at. Seen when a score of {min_points}
or more evaluations never gets more than {max_gain} above its first value and ends low: R2 at or below
{no_variance}, other scores at {at_worst} or below, an accuracy no more than {max_gain} above what guessing
gives (1/K where the number of classes K is known, one half otherwise, where the loss does not fall either).
Measured on validation data where the log has both. A recording of a regression has a score of its own: the
share of the targets' variance that the answers explain, where simple models explain more.

Low where a trained model is tuned. Silent when another score is good or rises, for an accuracy near zero
beside a falling loss (it does not fit the task), for language models, reinforcement learning and GANs.
Known mistakes: a task of which little can be predicted.
"""

from collections.abc import Iterator

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped, stats
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import odd_objective, sampled
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Score stays low",
    needs=("loss|val/loss",),
    family="flat",
    explains=("plateau", "slow_decline", "high_without_gap"),
    guards=("surrogate", "preference", "good"),
    counts_as="accuracy_at_chance",
)
_STEPS = 200  # a regression is judged by what its answers explain only from here on
_METRICS = ("accuracy", "f1", "recall", "auc", "iou", "dice", "map", "map50", "r2", "hit_rate", "ndcg", "mrr")


def detect(
    case: Case,
    *,
    max_gain: float = 0.03,
    no_variance: float = 0.05,
    at_worst: float = 0.01,
    min_points: int = 6,
) -> Detected:
    scores = list(_scores(case, min_points))
    if not scores:
        return Skipped(f"a score with at least {min_points} values")
    if case.task.predicts_tokens or any(_rises(metric, part) for metric, _, part in scores):
        return None
    for metric, curve, part in scores:
        ends, gain = float(np.median(part[-3:])), float(part.max() - part[0])
        if metric == "explained":
            gain = 0.0  # a model begins with answers worse than a constant
        limit = _limit(case, metric, no_variance, at_worst, max_gain)
        if limit is None or gain > max_gain or ends > limit:
            continue
        severity: Severity = "low" if case.task.fine_tuned else "medium"
        return Finding(
            f"{curve.name} is {text(part[0])} at first and {text(ends)} at the end, at best "
            f"{text(float(part.max()))} in {part.size} evaluations{_loss_course(case)}.",
            "not_learning",
            severity,
            step=float(curve.x[0]),
            end=float(curve.x[-1]),
            series=curve.name,
            strength=0.8,
            numbers={"metric": curve.name, "last": ends, "best": float(part.max())},
        )
    return None


def _scores(case: Case, least: int) -> Iterator[tuple[str, Curve, np.ndarray]]:
    """Each score with its values as shares of one, of validation data where both sides are logged."""
    for metric in _METRICS:
        names = [name for name in case.names if name.removeprefix("val/").split("/")[0] == metric]
        for name in sorted(names, key=lambda name: (not name.startswith("val/"), len(name)))[:1]:
            curve = case.curve(name)
            part = (curve.y if metric == "r2" else shares(curve)) if curve is not None else None
            if curve is not None and part is not None and part.size >= least:
                yield metric, curve, part
    explained, simple = sampled(case, "output/explained", least), case.level.against_simple
    late = explained is not None and explained.x[-1] >= _STEPS
    if simple is not None and simple.as_good:
        return
    if explained is not None and late and len(case.inside.losses) == 1 and not odd_objective(case):
        yield "explained", explained, explained.y


def _rises(metric: str, part: np.ndarray, *, by: float = 0.05) -> bool:
    """Whether the last third lies clearly above the first value, or it rose since the first third."""
    if metric == "explained":
        return float(np.median(part[-max(2, part.size // 3) :])) > by
    later = part[part.size // 3 :]
    climbs = later.size >= 8 and stats.trend(np.arange(float(later.size)), later).z > 4.0
    return climbs or float(np.median(part[-max(2, part.size // 3) :]) - part[0]) > by


def _limit(case: Case, metric: str, no_variance: float, worst: float, slack: float) -> float | None:
    """Up to which end a score is poor; None where that cannot be told."""
    if metric in ("r2", "explained"):
        return no_variance
    if metric != "accuracy":
        return worst
    if _falls(case, share=0.1):
        return None
    classes = case.task.classes
    return (1.0 / classes if classes else 0.5) + slack


def _falls(case: Case, *, share: float) -> bool:
    """Whether a loss fell by a share of its start after its first value."""
    curves = [curve for curve in (case.val_loss or case.loss,) if curve is not None and len(curve) > 3]
    return any(float(curve.y[1]) - curve.tail > share * abs(float(curve.y[1])) for curve in curves)


def _loss_course(case: Case) -> str:
    """What the loss did."""
    curve = case.val_loss or case.loss
    if curve is None or len(curve) < 2:
        return ""
    return f", while {curve.name} went from {text(float(curve.y[0]))} to {text(curve.tail)}"


def fires() -> Runs:
    rests = noisy(np.full(10, 0.6934), 0.0005)
    yield run({"loss": noisy(rests, 0.004), "val/loss": rests, "val/accuracy": [0.5] * 10})
    yield run({"loss": decay(12, -0.8, -0.95), "val/loss": decay(12, -0.8, -0.94), "recall": [0.0] * 12})
    flat = noisy(np.full(15, 0.99), 0.001)
    yield run({"loss": noisy(flat, 0.1), "val/loss": flat, "val/r2": noisy(np.full(15, -0.001), 0.5)})

    x = [1, 4, 16, 64, 128, 256, 512]
    nothing = {"output/explained": (x, [-1.4, -0.5, -0.1, -0.01, 0.0, 0.01, -0.01])}
    yield run(
        {"loss": noisy(np.full(40, 1.0), 0.05), **nothing}, facts={"losses": [{"function": "mse_loss"}]}
    )


def silent() -> Runs:
    learned = {"output/explained": ([1, 4, 16, 64, 128, 256, 512], [-1.4, -0.5, -0.1, 0.2, 0.5, 0.6, 0.7])}
    yield run({"loss": decay(40, 1.0, 0.3), **learned}, facts={"losses": [{"function": "mse_loss"}]})
    falls = decay(20, 2.3, 0.4)
    yield run({"loss": falls, "val/loss": falls, "val/accuracy": 0.9 - decay(20, 0.8, 0.0)}, axis="epoch")
    yield run({"loss": falls, "val/loss": falls, "accuracy": [0.0] * 20}, axis="epoch")
    yield run({"loss": falls, "val/loss": falls, "val/r2": 0.8 - decay(20, 0.8, 0.0)}, axis="epoch")
    good = noisy(np.full(20, 0.95), 0.005)
    yield run({"loss": noisy(np.full(20, 0.15), 0.05), "val/accuracy": good}, axis="epoch")
    late = [0.0] * 8 + [0.02, 0.05, 0.1, 0.2, 0.25, 0.3]
    yield run({"loss": decay(14, 9.0, 4.0), "val/map": late}, axis="epoch")
