"""Labels of one group of rows (a site, an annotator) are wrong far more often than the others.

A small model predicts each row's label from all other rows. Seen when, among the rows it is sure of, one
value of some column is contradicted at least {min_share:%} of the time and {times_others} times as often as
all others. The column need not be one that the script uses.

Silent where a group is merely harder, or has other classes: only rows that the model is sure of count.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading, rows
from traindx.testing.sketch import run

DETECTOR = Detector(title="Wrong labels in one group of rows", needs=NEEDS, family="labels_in_file")


def detect(
    case: Case, *, min_share: float = 0.15, times_others: float = 3.0, z_score: float = 6.0
) -> Detected:
    for target in listed(case, "data_targets"):
        inside, others, z = (number(target, key) for key in ("group_wrong", "others_wrong", "group_z"))
        if inside is None or others is None or z is None:
            continue
        if inside < min_share or inside < times_others * others or z < z_score:
            continue
        table, column, value = (word(target, key) for key in ("table", "group_column", "group"))
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: where {column} is {value} ({rows(round(number(target, 'group_rows') or 0.0))}), "
            f"{percent(inside)} of the labels contradict what a small model is sure of; of all others "
            f"{percent(others)}: the labels of this group are not to be trusted{phrase}.",
            symptom="silent_defect",
            severity="medium",
            numbers={"noise": inside, "others": others, "column": column, "group": value, "file": table},
            places=places,
        )
    return None


def _facts(inside: float, others: float, z: float) -> dict[str, Any]:
    target = {"table": "a.csv", "group_column": "site", "group": "west", "group_rows": 470}
    target |= {"group_wrong": inside, "others_wrong": others, "group_z": z}
    return {"data_files": [{"name": "a.csv"}], "data_targets": [target]}


def fires() -> Runs:
    yield run({}, facts=_facts(0.6, 0.01, 25.0))


def silent() -> Runs:
    yield run({}, facts=_facts(0.2, 0.12, 7.0))
    yield run({}, facts=_facts(0.1, 0.01, 9.0))
