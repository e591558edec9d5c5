"""Means and standard deviations that are stored in a file are not those of the training data.

Seen when a stored mean is off by more than {max_offset} standard deviations of the column, or a stored
deviation by that much on a logarithmic scale, for at least {min_share:%} of the columns. Inputs scaled by
them are not normalised.

Silent for statistics of another number of columns, and for those of images in 0 to 1 that are stored as 0
to 255.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="Stored statistics are of other data", needs=NEEDS, family="stored_statistics")


def detect(case: Case, *, max_offset: float = 0.5, min_share: float = 0.05) -> Detected:
    for one in listed(case, "data_statistics"):
        worst, wrong, columns = (number(one, key) for key in ("worst", "wrong", "columns"))
        if worst is None or wrong is None or not columns or worst < max_offset or wrong / columns < min_share:
            continue
        name, table = word(one, "file"), word(one, "table")
        stored, real = (
            [number(one, f"{kind}_{what}") or 0.0 for what in ("mean", "std")] for kind in ("stored", "real")
        )
        phrase, places = reading(case, name)
        return Finding(
            f"{name}: for {word(one, 'column')} it holds mean {text(stored[0])} and standard deviation "
            f"{text(stored[1])}; in {table} they are {text(real[0])} and {text(real[1])}. {round(wrong)} of "
            f"{round(columns)} columns are off: these are statistics of other data{phrase}.",
            symptom="silent_defect",
            severity="high",
            numbers={"worst": worst, "columns": wrong, "file": name},
            places=places,
        )
    return None


def _facts(worst: float, wrong: int) -> dict[str, Any]:
    fact = {
        "file": "stats.json",
        "table": "x.npy",
        "columns": 10,
        "worst": worst,
        "wrong": wrong,
        "column": "x[5]",
    }
    fact |= {"stored_mean": 94.6, "stored_std": 41.0, "real_mean": -50.8, "real_std": 29.1}
    return {"data_files": [{"name": "stats.json"}], "data_statistics": [fact]}


def fires() -> Runs:
    yield run({}, facts=_facts(5.0, 9))


def silent() -> Runs:
    yield run({}, facts=_facts(0.01, 0))
    yield run({}, facts=_facts(0.4, 1))
