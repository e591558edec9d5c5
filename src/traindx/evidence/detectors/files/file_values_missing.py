"""Columns of a data file lack values, or hold cells that are no numbers.

Seen when a column of numbers has empty cells, NaN or Inf, or cells of other text. A sign: most scripts fill
or drop them, and one that does not gives NaN.

A target that is missing is a defect where the script has no word for filling or dropping.
"""

import ast
from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="Missing values in a data file", needs=NEEDS, family="odd_values_in_file")
_HANDLING = ("fillna", "dropna", "isnan", "isfinite", "nan_to_num", "nanmean", "isna", "notna", "interpolate")


def detect(case: Case) -> Detected:
    found = [
        one for one in listed(case, "data_columns") if number(one, "missing") or number(one, "odd_cells")
    ]
    if not found:
        return None
    worst = max(found, key=lambda one: (number(one, "missing") or 0.0) / (number(one, "of") or 1.0))
    table, name = word(worst, "table"), word(worst, "column")
    missing, total = number(worst, "missing") or 0.0, number(worst, "of") or 1.0
    targets = {(word(one, "table"), word(one, "column")) for one in listed(case, "data_targets")}
    bad = next((one for one in found if (one.get("table"), one.get("column")) in targets), None)
    phrase, places = reading(case, table)
    more = f", {len(found)} columns in all" if len(found) > 1 else ""
    if missing:
        first = round(number(worst, "first_row") or 0.0)
        what = f"the column {name} lacks {percent(missing / total)} of its values, the first in row {first}"
    else:
        odd = round(number(worst, "odd_cells") or 0.0)
        what = f"the column {name} holds {odd} cells that are no numbers, such as '{word(worst, 'odd_cell')}'"
    defect = bad is not None and case.script is not None and not _handled(case)
    if defect and bad is not None:
        what = f"the target {word(bad, 'column')} lacks {round(number(bad, 'missing') or 0.0)} values"
    return Finding(
        f"{table}: {what}{more}{phrase}.",
        symptom="silent_defect" if defect else None,
        severity="medium" if defect else "low",
        numbers={"share": missing / total, "columns": len(found)},
        places=places,
    )


def _handled(case: Case) -> bool:
    script = case.script
    if script is None:
        return False
    return any(
        isinstance(node, ast.Attribute | ast.Name)
        and (node.attr if isinstance(node, ast.Attribute) else node.id) in _HANDLING
        for source in script.sources
        for node in ast.walk(source.tree)
    )


def _facts(**column: Any) -> dict[str, Any]:
    return {
        "data_files": [{"name": "a.csv"}],
        "data_columns": [{"table": "a.csv", "column": "age", **column}],
    }


def fires() -> Runs:
    yield run({}, facts=_facts(missing=12, of=400, first_row=3))
    yield run({}, facts=_facts(odd_cells=2, odd_cell="#REF!"))


def silent() -> Runs:
    yield run({}, facts=_facts(constant=1.0))
    yield run({}, facts={"data_files": [{"name": "a.csv"}]})
