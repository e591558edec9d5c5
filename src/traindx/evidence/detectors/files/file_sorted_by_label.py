"""The rows of a data file are sorted by their label.

A sign: harmless where the training shuffles, and a cause of swings and of validation on unseen classes
where it takes them in order or splits off the last part.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="A data file sorted by label", needs=NEEDS, family="sorted_by_label")


def detect(case: Case, *, min_order: float = 0.9) -> Detected:
    for target in listed(case, "data_targets"):
        order = number(target, "in_order")
        if order is None or order < min_order:
            continue
        table = word(target, "table")
        phrase, places = reading(case, table)
        sentence = f"{table}: the rows are sorted by {word(target, 'column')} ({percent(order)}){phrase}."
        return Finding(sentence, numbers={"order": order}, places=places)
    return None


def _facts(order: float) -> dict[str, Any]:
    target = {"table": "a.csv", "column": "label", "in_order": order}
    return {"data_files": [{"name": "a.csv"}], "data_targets": [target]}


def fires() -> Runs:
    yield run({}, facts=_facts(0.99))


def silent() -> Runs:
    yield run({}, facts=_facts(0.05))
    yield run({}, facts={"data_files": [{"name": "a.csv"}]})
