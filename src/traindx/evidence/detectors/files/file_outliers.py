"""A few values of a column are far beyond all others, also on a logarithmic scale.

A sign: a slip of the pen, a broken sensor, or a rare true value; long tails (prices, counts) are not meant.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading, rows
from traindx.testing.sketch import run

DETECTOR = Detector(title="Outliers in a data file", needs=NEEDS, family="odd_values_in_file")


def detect(case: Case) -> Detected:
    found = [one for one in listed(case, "data_columns") if number(one, "outliers")]
    if not found:
        return None
    one = found[0]
    table, name = word(one, "table"), word(one, "column")
    count, value, row = (number(one, key) or 0.0 for key in ("outliers", "outlier", "outlier_row"))
    low, high = (number(one, key) or 0.0 for key in ("usual_low", "usual_high"))
    phrase, places = reading(case, table)
    more = f"; {len(found) - 1} more columns have some" if len(found) > 1 else ""
    return Finding(
        f"{table}: the column {name} is between {text(low)} and {text(high)} in nearly all rows and holds "
        f"{text(value)} in row {round(row):,} ({rows(round(count))} like it{more}){phrase}.",
        numbers={"outlier": value, "rows": count},
        places=places,
    )


def _facts(**column: Any) -> dict[str, Any]:
    return {
        "data_files": [{"name": "a.csv"}],
        "data_columns": [{"table": "a.csv", "column": "age", **column}],
    }


def fires() -> Runs:
    yield run({}, facts=_facts(outliers=2, outlier=41_000.0, outlier_row=17, usual_low=18.0, usual_high=80.0))


def silent() -> Runs:
    yield run({}, facts=_facts(missing=2, of=90))
    yield run({}, facts={"data_files": [{"name": "a.csv"}]})
