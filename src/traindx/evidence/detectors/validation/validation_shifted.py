"""What the model is given in validation is on another scale, or about another place, than in training.

Measured where inputs enter the model, feature by feature: the middle feature lies more than {shift_in_std}
deviation of training elsewhere, or spreads more than {min_spread_ratio} times, or less than a third, as much.

A sign from there on; a defect from {far_shift_in_std} deviations or {wide_ratio} times on. Silent with under
{min_rows} samples, for whole numbers, and for small differences, which augmentation makes. Known mistakes: a
test on other data on purpose.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import text, times
from traindx.evidence.sampled import odd_objective, part
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Validation inputs differ from training", needs=("fact:samples",), family="input_shift"
)


def detect(
    case: Case,
    *,
    shift_in_std: float = 1.0,
    far_shift_in_std: float = 2.0,
    min_spread_ratio: float = 3.0,
    wide_ratio: float = 10.0,
    min_rows: int = 64,
) -> Detected:
    held_out = part(case.inside.fact("samples"), "validation")
    moved, ratio = number(held_out, "shift"), number(held_out, "spread_ratio")
    if moved is None or ratio is None or (number(held_out, "rows") or 0) < min_rows or odd_objective(case):
        return Skipped("real-valued inputs of training and of validation")
    factor = max(ratio, 1 / ratio) if ratio > 0 else 1e6
    if moved < shift_in_std and factor < min_spread_ratio:
        return None
    grave = moved >= far_shift_in_std or factor >= wide_ratio
    wider = "as wide" if ratio >= 1 else "narrower"
    sentence = (
        f"In validation the inputs lie {text(moved)} deviations elsewhere than in training and spread "
        f"{times(factor)} {wider}."
    )
    numbers = {"shift": moved, "spread_ratio": ratio}
    return Finding(sentence, "silent_defect", "high" if grave else "medium", numbers=numbers)


def _facts(moved: float, ratio: float) -> dict[str, Any]:
    held_out = {"batches": 9, "taken": 500, "known": 0, "rows": 500.0, "shift": moved, "spread_ratio": ratio}
    return {"samples": {"taken": 900, "validation": held_out}}


def fires() -> Runs:
    yield run({}, facts=_facts(0.3, 255.0))
    yield run({}, facts=_facts(2.6, 1.0))


def silent() -> Runs:
    yield run({}, facts=_facts(0.15, 1.02))
    yield run({}, facts=_facts(0.4, 0.8))
