"""Validation scores are almost perfect, and were so early.

Seen when a validation accuracy, F1, AUC or mAP50 stands at {perfect_score} or above over the last tenth and
got there within the first fifth of the evaluations; for mAP50-95, where annotators themselves agree less,
{perfect_map}. An easy task looks like this, and so do validation data that are also in the training set: a
sign, and of low weight by itself. An mAP50-95 of {perfect_map} from the first tenth on is told as a possible
defect, still low.

Silent with fewer than {min_points} evaluations and for RL and GAN training. Known mistakes: MNIST and other
solved tasks; pixel accuracy where almost every pixel is background.
"""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.validation import evaluations, score
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Suspiciously perfect validation",
    needs=("val/accuracy|test/accuracy|val/f1|val/auc|val/map|val/map50|map|map50",),
    family="validation_level",
    guards=("surrogate",),
)


def detect(
    case: Case,
    *,
    perfect_score: float = 0.99,
    perfect_map: float = 0.97,
    early_share: float = 0.2,
    min_points: int = 5,
) -> Detected:
    curves = [
        curve
        for name in ("map", "accuracy", "f1", "auc", "map50")
        if (curve := score(case, name)) is not None and len(curve) >= min_points and shares(curve) is not None
    ]
    if not curves:
        return Skipped(f"at least {min_points} evaluations of an accuracy, F1, AUC or mAP")
    for curve in curves:
        limit = perfect_map if curve.name.endswith("map") else perfect_score
        found = _look(curve, limit, early_share)
        if found is not None:
            return found
    return None


def _look(curve: Curve, limit: float, early: float) -> Finding | None:
    steps, values = evaluations(curve)
    values = values / (100.0 if values.max() > 1.5 else 1.0)
    last = float(np.median(values[-max(3, values.size // 10) :]))
    if last < limit:
        return None
    reached = int((values >= limit).argmax())
    if reached > max(1.0, early * values.size):
        return None
    striking = curve.name.endswith("map") or last >= 0.999
    at_once = reached <= max(1.0, 0.5 * early * values.size)
    step = float(steps[reached])
    return Finding(
        f"{curve.name} stands at {text(last)} and was at {text(float(values[reached]))} as early as "
        f"{where(curve, step)}, evaluation {reached + 1} of {values.size}.",
        "silent_defect" if curve.name.endswith("map") and at_once else None,
        "low",
        step=step,
        series=curve.name,
        strength=0.6 if striking and at_once else 0.4,
        numbers={"score": last, "reached_at": step},
        marks=(step,),
    )


def fires() -> Runs:
    yield run({"val/map": 0.994 - decay(60, 0.4, 0.0, rate=40), "val/map50": [0.995] * 60}, axis="epoch")
    yield run({"val/accuracy": [97.0, *[100.0] * 19]}, axis="epoch")
    yield run({"val/accuracy": [0.98, *[0.993] * 19]}, axis="epoch")


def silent() -> Runs:
    yield run({"val/accuracy": 0.995 - decay(50, 0.8, 0.0, rate=5)}, axis="epoch")
    yield run({"val/accuracy": [0.97] * 20}, axis="epoch")
    yield run({"val/accuracy": [0.999, 1.0, 1.0]}, axis="epoch")
