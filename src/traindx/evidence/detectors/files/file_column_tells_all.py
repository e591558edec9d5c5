"""One column of a data file alone gives the target away, as nothing else does.

Seen when one column predicts almost every target ({score_alone}), while all others together are wrong at
least {error_ratio} times as often; or when the mere gaps of a column do so: it is filled in only for one
answer.

Silent for a second name of the class (one value for each), for columns that the script drops or does not
name among those it uses, and where the others say nothing (the task is then that column). Known mistakes: a
task that one honest measurement decides.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, is_used, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="A column gives the answer away", needs=NEEDS, family="telling_feature")


def detect(
    case: Case,
    *,
    score_alone: float = 0.97,
    error_ratio: float = 6.0,
    min_errors: float = 0.04,
    z_score: float = 5.0,
) -> Detected:
    for target in listed(case, "data_targets"):
        alone, others, z = (number(target, key) for key in ("alone", "without", "without_z"))
        if alone is None or others is None or z is None or alone < score_alone or target.get("alone_renames"):
            continue
        lacking, gaps = 1 - others, target.get("alone_by_gaps") is True
        if lacking < min_errors or lacking < error_ratio * (1 - alone) or (z < z_score and not gaps):
            continue
        table, column = word(target, "table"), word(target, "alone_column")
        columns = next(
            (f.get("columns") for f in listed(case, "data_tables") if f.get("table") == table), None
        )
        known = [str(one) for one in columns] if isinstance(columns, list) else []
        if not is_used(case.script, column, [one for one in known if one != column]):
            continue
        phrase, places = reading(case, table)
        how = (
            f"the column {column} is filled in for one answer and empty for the other: that alone predicts"
            if gaps
            else f"the column {column} alone predicts"
        )
        return Finding(
            f"{table}: {how} {percent(alone)} of {word(target, 'column')}; all other columns together "
            f"{percent(others)}: it holds the answer{phrase}.",
            symptom="silent_defect",
            severity="high" if gaps else "medium",
            numbers={"alone": alone, "without": others, "column": column, "file": table},
            places=places,
        )
    return None


def _facts(alone: float, without: float, *, gaps: bool = False, renames: bool = False) -> dict[str, Any]:
    target = {"table": "a.csv", "column": "label", "alone": alone, "without": without, "without_z": 30.0}
    target |= {"alone_column": "closed", "alone_by_gaps": gaps, "alone_renames": renames}
    return {"data_files": [{"name": "a.csv"}], "data_targets": [target]}


def fires() -> Runs:
    yield run({}, facts=_facts(0.996, 0.88, gaps=True))
    yield run({}, facts=_facts(0.998, 0.8))


def silent() -> Runs:
    yield run({}, facts=_facts(0.92, 0.85))
    yield run({}, facts=_facts(0.99, 0.97))
    yield run({}, facts=_facts(1.0, 0.7, renames=True))
