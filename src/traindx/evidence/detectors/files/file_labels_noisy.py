"""Labels of a data file contradict what all other rows say of their inputs: a share of them is wrong.

A small model of traindx's own predicts each row's label from all other rows. Seen when it is contradicted
even where it is surest and the nearest rows agree with it: where classes merely overlap, its errors end
there, while wrong labels are everywhere. Of the surest rows, at least {min_share:%} must be contradicted,
beyond chance.

The most suspicious rows are listed. Silent under {min_sure} sure rows and where inputs say little of the
labels. Known mistakes: small groups of rows that follow another rule.
"""

import math
from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, facts, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="Wrong labels in a data file", needs=NEEDS, family="labels_in_file")


def detect(
    case: Case,
    *,
    min_share: float = 0.02,
    medium_share: float = 0.05,
    min_sure: int = 60,
    min_margin: float = 0.25,
    z_score: float = 2.3,
) -> Detected:
    for target in listed(case, "data_targets"):
        surest, wrong, score, chance = (
            number(target, key) for key in ("surest", "surest_wrong", "score", "chance")
        )
        if surest is None or wrong is None or score is None or chance is None or surest < min_sure:
            continue
        if score - chance < min_margin * (1 - chance):
            continue
        share = wrong / surest
        least = _at_least(wrong, surest, z_score)
        if least < min_share:
            continue
        table, count = word(target, "table"), round(number(target, "suspected") or 0.0)
        phrase, places = reading(case, table)
        return Finding(
            f"{table}: where a small model is surest of the label and the nearest rows agree with it, "
            f"{percent(share)} of the labels ({round(wrong)} of {round(surest)}) are others. "
            f"{count} rows are "
            f"suspicious, first {_suspects(target)}{phrase}.",
            symptom="silent_defect",
            severity="medium" if least >= medium_share else "low",
            strength=min(1.0, least / medium_share),
            numbers={"noise": share, "at_least": least, "suspects": count, "file": table},
            places=places,
        )
    return None


def _at_least(wrong: float, total: float, z: float) -> float:
    """The lower end of Wilson's interval for a share."""
    share = wrong / total
    middle = share + z * z / (2 * total)
    return (middle - z * math.sqrt(share * (1 - share) / total + z * z / (4 * total**2))) / (
        1 + z * z / total
    )


def _suspects(target: Any) -> str:
    named = [
        f"row {round(number(one, 'row') or 0.0)} ({word(one, 'label')}, rather {word(one, 'rather')})"
        for one in facts(target.get("suspects"))[:3]
    ]
    return ", ".join(named)


def _facts(surest: int, wrong: int, score: float = 0.85, chance: float = 0.5) -> dict[str, Any]:
    suspects = [{"row": 4, "label": "cat", "rather": "dog"}]
    target = {"table": "a.csv", "column": "label", "surest": surest, "surest_wrong": wrong, "suspected": 40}
    target |= {"score": score, "chance": chance, "suspects": suspects}
    return {"data_files": [{"name": "a.csv"}], "data_targets": [target]}


def fires() -> Runs:
    yield run({}, facts=_facts(400, 48))
    yield run({}, facts=_facts(400, 20))


def silent() -> Runs:
    yield run({}, facts=_facts(400, 4))
    yield run({}, facts=_facts(400, 48, score=0.55))
    yield run({}, facts=_facts(40, 8))
