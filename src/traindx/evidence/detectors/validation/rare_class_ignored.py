"""The accuracy is high, and recall, precision or F1 of the rare class is zero.

A model that answers the frequent class every time is right as often as that class occurs, and finds none of
the rare one. Seen when a logged recall, precision or F1 is at most {zero} in the second half of at least
{min_points} evaluations, while the accuracy of the same data is {accuracy} or more.

Silent without both scores, and where the score left zero later in the run.
"""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Rare class ignored", needs=("accuracy|val/accuracy",), family="rare_class")
_RARE = ("recall", "f1", "precision")


def detect(case: Case, *, zero: float = 0.005, accuracy: float = 0.7, min_points: int = 5) -> Detected:
    checked = False
    for find in (case.val, case.curve):
        right = shares(find("accuracy"))
        for name in _RARE:
            curve = find(name)
            score = shares(curve)
            if curve is None or score is None or right is None or score.size < min_points:
                continue
            checked = True
            late, level = float(score[score.size // 2 :].max()), float(np.median(right[-3:]))
            if late <= zero and level >= accuracy:
                return Finding(
                    f"{curve.name} is {text(late)} at most in the second half of {score.size} evaluations "
                    f"while the accuracy is {text(level)}: the rare class is never answered.",
                    "not_learning",
                    "medium",
                    step=float(curve.x[0]),
                    series=curve.name,
                    numbers={"accuracy": level},
                )
    return None if checked else Skipped("an accuracy together with a recall, precision or F1")


def fires() -> Runs:
    yield run({"val/accuracy": noisy([0.97] * 12, 0.002), "val/recall": [0.0] * 12}, axis="epoch")


def silent() -> Runs:
    yield run({"val/accuracy": noisy([0.97] * 12, 0.002), "val/recall": [0.0] * 3 + [0.4] * 9}, axis="epoch")
    yield run({"val/accuracy": noisy([0.97] * 12, 0.002)}, axis="epoch")
