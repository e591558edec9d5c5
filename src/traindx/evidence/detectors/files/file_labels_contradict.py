"""The same inputs are in a data file more than once, with different labels.

Seen when at least {min_inputs} inputs that are too long to be equal by accident (images, texts, rows of
many numbers) have two labels, and these are {min_share:%} of the rows or more. One of the two is wrong.

Silent for rows that may well be equal by accident. Known mistakes: tasks where one input rightly has many
answers.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading, rows
from traindx.testing.sketch import run

DETECTOR = Detector(title="Equal inputs with different labels", needs=NEEDS, family="labels_in_file")


def detect(
    case: Case, *, min_inputs: int = 3, min_share: float = 0.002, medium_share: float = 0.02
) -> Detected:
    for target in listed(case, "data_targets"):
        count, total = number(target, "contradicting"), number(target, "rows")
        inputs = number(target, "contradicting_inputs") or 0.0
        if count is None or not total or inputs < min_inputs or count / total < min_share:
            continue
        table = word(target, "table")
        phrase, places = reading(case, table)
        between = word(target, "contradicting_classes")
        return Finding(
            f"{table}: {round(inputs)} inputs are there twice or more with different labels (mostly "
            f"{between}): "
            f"{rows(round(count))}, {percent(count / total)}, contradict each other{phrase}.",
            symptom="silent_defect",
            severity="medium" if count / total >= medium_share else "low",
            numbers={"rows": count, "share": count / total, "file": table},
            places=places,
        )
    return None


def _facts(count: int, total: int) -> dict[str, Any]:
    target = {"table": "images", "contradicting": count, "contradicting_inputs": count // 2, "rows": total}
    target["contradicting_classes"] = "ring and square"
    return {"data_files": [{"name": "images"}], "data_targets": [target]}


def fires() -> Runs:
    yield run({}, facts=_facts(120, 510))


def silent() -> Runs:
    yield run({}, facts=_facts(2, 510))
    yield run({}, facts=_facts(12, 50_000))
