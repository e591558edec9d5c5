"""Rows of the validation or test file are in the training file as well.

Seen when at least {min_rows} rows and {min_share:%} of one file have the very inputs of rows in the other
(ids and dates left out), or are all but equal to one; only rows that are hardly equal by accident count:
long texts, many numbers, images.

Silent for short texts and rows of few values. Only a sign where no name says which file is for validation.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="Rows of one file in the other", needs=NEEDS, family="rows_in_two_files")


def detect(
    case: Case, *, min_rows: int = 4, min_share: float = 0.01, max_near_inside: float = 0.01
) -> Detected:
    for pair in listed(case, "data_pairs"):
        total, shared = number(pair, "rows") or 0.0, number(pair, "shared") or 0.0
        of, near = number(pair, "near_of") or 1.0, number(pair, "near") or 0.0
        if (number(pair, "near_inside") or 0.0) > max_near_inside:
            near = 0.0
        if not total or max(shared, near) < min_rows or max(shared / total, near / of) < min_share:
            continue
        first, second = word(pair, "first"), word(pair, "second")
        splits = pair.get("splits")
        known = isinstance(splits, list) and "" not in splits and len(set(splits)) > 1
        exact = shared / total >= near / of
        share = shared / total if exact else near / of
        words = "are in" if exact else "are all but equal to rows of"
        phrase, places = reading(case, second)
        return Finding(
            f"{percent(share)} of the rows of {second} ({round(shared if exact else near):,}) {words} {first}"
            f"{_example(pair) if exact else ''}: what is validated on was trained on{phrase}.",
            symptom="silent_defect" if known else None,
            severity="high" if share >= 0.05 else "medium",
            numbers={"share": share, "rows": shared if exact else near},
            places=places,
        )
    return None


def _example(pair: Any) -> str:
    found = pair.get("shared_rows")
    if not isinstance(found, list) or not found or not isinstance(found[0], list) or len(found[0]) != 2:
        return ""
    return f" (row {found[0][1]} is row {found[0][0]} there)"


def _facts(**pair: Any) -> dict[str, Any]:
    fact = {"first": "train.csv", "second": "val.csv", "rows": 400, "splits": ["train", "val"], **pair}
    return {"data_files": [{"name": "val.csv", "line": "train.py:4"}], "data_pairs": [fact]}


def fires() -> Runs:
    yield run({}, facts=_facts(shared=150, shared_rows=[[762, 0]]))
    yield run({}, facts=_facts(shared=0, near=60, near_of=400, near_inside=0.0))


def silent() -> Runs:
    yield run({}, facts=_facts(shared=2))
    yield run({}, facts=_facts(shared=0, near=60, near_of=400, near_inside=0.2))
    yield run({}, facts=_facts())
