"""Dropout is set above one half.

Silent up to {max_dropout}, which classifiers with wide last layers have long used, and for values above 1,
which are no probability. Known mistakes: a setting that means the share kept, not the share dropped.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run

DETECTOR = Detector(title="High dropout", needs=("setting:dropout",), family="regularisation")


def detect(case: Case, *, max_dropout: float = 0.5, full_strength_at: float = 0.8) -> Detected:
    dropout = case.number("dropout")
    if dropout is None or not 0 <= dropout <= 1:
        return Skipped("dropout as a probability")
    if dropout <= max_dropout:
        return None
    return Finding(
        text=f"Dropout is {text(dropout)}: {100 * dropout:.0f} % of the units are silenced at every step.",
        strength=round(
            min(1.0, 0.3 + 0.7 * (dropout - max_dropout) / max(1e-9, full_strength_at - max_dropout)), 3
        ),
        numbers={"dropout": dropout},
    )


def fires() -> Runs:
    yield run({}, settings={"dropout": 0.9})
    yield run({}, settings={"dropout": 0.6})


def silent() -> Runs:
    yield run({}, settings={"dropout": 0.5})
    yield run({}, settings={"dropout": 0.1})
    yield run({}, settings={"dropout": 30})
