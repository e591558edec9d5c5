"""The loss is low or the accuracy high, and recall, precision or F1 of the rare class is zero.

A model that answers the frequent class every time is right as often as that class occurs, and finds none of
the rare one. Seen when a logged recall, precision or F1 is at most {zero} in the second half of at least
{min_points} evaluations, while the accuracy of the same data is {accuracy} or more, or, where none is logged,
the training loss came down to {loss_left} of its start.

Silent without such a score, and where it left zero later in the run.
"""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Rare class ignored",
    needs=("recall|precision|f1|val/recall|val/precision|val/f1",),
    family="rare_class",
    guards=("surrogate",),
)
_RARE = ("recall", "f1", "precision")


def detect(
    case: Case, *, zero: float = 0.005, accuracy: float = 0.7, loss_left: float = 0.5, min_points: int = 5
) -> Detected:
    checked = False
    loss = case.loss
    learned = loss is not None and len(loss) >= min_points and 0 <= loss.tail <= loss_left * loss.head
    learned = learned and not case.has("map|map50|val/map|val/map50")  # a detector has no rare class alone
    for find in (case.val, case.curve):
        right = shares(find("accuracy"))
        for name in _RARE:
            curve = find(name)
            score = shares(curve)
            if curve is None or score is None or score.size < min_points:
                continue
            checked = True
            late = float(score[score.size // 2 :].max())
            level = float(np.median(right[-3:])) if right is not None else 0.0
            if late <= zero and (level >= accuracy or (right is None and learned)):
                well = f"the accuracy is {text(level)}" if right is not None else "the loss came down"
                return Finding(
                    f"{curve.name} is {text(late)} at most in the second half of {score.size} evaluations "
                    f"while {well}: the rare class is never answered.",
                    "not_learning",
                    "medium",
                    step=float(curve.x[0]),
                    series=curve.name,
                    numbers={"accuracy": level} if right is not None else {},
                )
    return None if checked else Skipped(f"at least {min_points} values of a recall, precision or F1")


def fires() -> Runs:
    yield run({"val/accuracy": noisy([0.97] * 12, 0.002), "val/recall": [0.0] * 12}, axis="epoch")
    yield run({"loss": decay(12, 0.7, 0.01), "val/recall": [0.0] * 12}, axis="epoch")


def silent() -> Runs:
    yield run({"val/accuracy": noisy([0.97] * 12, 0.002), "val/recall": [0.0] * 3 + [0.4] * 9}, axis="epoch")
    yield run({"val/accuracy": noisy([0.97] * 12, 0.002)}, axis="epoch")
