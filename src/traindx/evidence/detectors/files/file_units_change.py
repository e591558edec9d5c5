"""The scale of a column changes at one row of a data file: another unit or source.

Seen when both sides of a row are steady in themselves and differ sharply: in spread ({min_ratio} times or
more) and level together, or in level alone by many times the spread, while most other columns stay as they
are.

Silent for columns that drift, swing or wander, for files where a third of the columns or more change at
once (two sources put together), and for columns that the script drops. Known mistakes: a real change of
what is measured.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors.files._facts import NEEDS, is_used, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="A column changes its unit along the file", needs=NEEDS, family="odd_values_in_file"
)


def detect(
    case: Case, *, min_ratio: float = 1.4, min_shift: float = 6.0, min_steadiness: float = 4.0
) -> Detected:
    for change in listed(case, "data_changes"):
        ratio, shift, steady = (number(change, key) for key in ("ratio", "shift", "steady"))
        if ratio is None or shift is None or steady is None or ratio <= 0:
            continue
        name, table = word(change, "column"), word(change, "table")
        clear = max(ratio, 1 / ratio) >= min_ratio or shift >= min_shift
        if not clear or steady < min_steadiness or not is_used(case.script, name, ()):
            continue
        row, before, after = (number(change, key) or 0.0 for key in ("row", "before", "after"))
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: from row {round(row):,} on, the column {name} is on another scale (median "
            f"{text(before)} "
            f"before, {text(after)} after; its spread is {text(ratio)} times as large), all at "
            "once, while the "
            f"other columns stay: another unit or source{phrase}.",
            symptom="silent_defect",
            severity="medium",
            numbers={
                "row": row,
                "ratio": ratio,
                "before": before,
                "after": after,
                "column": name,
                "file": table,
            },
            places=places,
        )
    return None


def _facts(ratio: float, shift: float, steady: float) -> dict[str, Any]:
    change = {"table": "a.csv", "column": "temp", "row": 1600, "before": 15.0, "after": 59.0}
    change |= {"ratio": ratio, "shift": shift, "steady": steady}
    return {"data_files": [{"name": "a.csv"}], "data_changes": [change]}


def fires() -> Runs:
    yield run({}, facts=_facts(1.8, 3.7, 24.0))
    yield run({}, facts=_facts(1.0, 20.0, 30.0))


def silent() -> Runs:
    yield run({}, facts=_facts(1.8, 3.7, 2.0))
    yield run({}, facts=_facts(1.1, 2.0, 20.0))
    yield run({}, facts={"data_files": [{"name": "a.csv"}]})
