"""Columns of a data file never vary, or are copies of others.

A sign: they add nothing, and a constant column divided by its standard deviation is a division by zero.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="Constant or copied columns", needs=NEEDS, family="columns_useless")


def detect(case: Case) -> Detected:
    columns = listed(case, "data_columns")
    constant = [one for one in columns if number(one, "constant") is not None]
    copied = [one for one in columns if word(one, "copy_of")]
    if not constant and not copied:
        return None
    one = (constant or copied)[0]
    phrase, places = reading(case, word(one, "table"))
    what = (
        f"the column {word(one, 'column')} is {text(number(one, 'constant') or 0.0)} in every row"
        if constant
        else f"the column {word(one, 'column')} holds 0 values that differ from {word(one, 'copy_of')}"
    )
    more = len(constant) + len(copied) - 1
    also = f"; {more} more are constant or copies" if more else ""
    return Finding(
        f"{word(one, 'table')}: {what}{also}{phrase}.",
        numbers={"constant": len(constant), "copies": len(copied)},
        places=places,
    )


def _facts(**column: Any) -> dict[str, Any]:
    return {
        "data_files": [{"name": "a.csv"}],
        "data_columns": [{"table": "a.csv", "column": "age", **column}],
    }


def fires() -> Runs:
    yield run({}, facts=_facts(constant=0.0))
    yield run({}, facts=_facts(copy_of="age_years"))


def silent() -> Runs:
    yield run({}, facts=_facts(missing=3, of=100))
    yield run({}, facts={"data_files": [{"name": "a.csv"}]})
