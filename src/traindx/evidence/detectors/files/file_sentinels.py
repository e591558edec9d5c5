"""A column of a data file holds a number that means "unknown", such as -999.

Seen when a value of that kind (-99, -999, 9999, 65535, 1e30, ...) is repeated at least {min_count} times
and lies further from every other value than twice their range. A model takes it for a measurement.

Silent where the script writes the same number, since it then deals with it, and for columns that it drops.
Known mistakes: a library that replaces the value unseen.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors.files._facts import NEEDS, is_used, listed, names_value, reading, rows
from traindx.testing.sketch import run

DETECTOR = Detector(title="Sentinels in a data file", needs=NEEDS, family="odd_values_in_file")


def detect(case: Case, *, min_count: int = 3, low_share: float = 0.0005) -> Detected:
    for column in listed(case, "data_columns"):
        value, count, total = (number(column, key) for key in ("sentinel", "sentinels", "rows"))
        if value is None or count is None or total is None or count < min_count:
            continue
        name, table = word(column, "column"), word(column, "table")
        if names_value(case.script, value) or not is_used(case.script, name, _others(case, name, table)):
            continue
        phrase, places = reading(case, table)
        low, high, first = (number(column, key) or 0.0 for key in ("low", "high", "first_row"))
        return Finding(
            f"{table}: the column {name} holds {text(value)} in {rows(round(count))} "
            f"({percent(count / total)}, "
            f"the first is row {round(first)}), while all other values are between {text(low)} and "
            f"{text(high)}: "
            f"it means that the value is missing{phrase}.",
            symptom="silent_defect",
            severity="medium" if count / total >= low_share else "low",
            numbers={"sentinel": value, "rows": count, "share": count / total, "column": name, "file": table},
            places=places,
        )
    return None


def _others(case: Case, name: str, table: str) -> list[str]:
    columns = next((f.get("columns") for f in listed(case, "data_tables") if f.get("table") == table), None)
    return [str(one) for one in columns if one != name] if isinstance(columns, list) else []


def _facts(**column: Any) -> dict[str, Any]:
    fact = {"table": "a.csv", "column": "humidity", "rows": 2400, "first_row": 21, "low": 25.0, "high": 101.0}
    return {"data_files": [{"name": "a.csv", "line": "train.py:3"}], "data_columns": [{**fact, **column}]}


def fires() -> Runs:
    yield run({}, facts=_facts(sentinel=-999.0, sentinels=140))


def silent() -> Runs:
    yield run({}, facts=_facts(sentinel=-999.0, sentinels=2))
    yield run({}, facts=_facts(missing=20))
