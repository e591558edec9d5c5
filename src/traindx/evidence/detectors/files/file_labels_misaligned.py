"""The labels of a data file, or of a stretch of its rows, belong to other rows.

A small model predicts each row's label from all other rows. Seen when it does so no better than chance for
the file and well for labels one to three rows further; or when its answers are at chance within a stretch
of rows and good elsewhere: shifted there, shuffled, or of another source.

Silent where the whole file cannot be predicted at any shift, and where targets resemble those of the next
rows. A stretch counts only when it is at chance, or a shift of it fits. Known mistakes: a stretch with
another rule.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Fact, Finding, Runs, number, word
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Labels of other rows in a data file",
    needs=NEEDS,
    family="labels_in_file",
    explains=("file_labels_noisy", "file_noise_in_group"),
)


def detect(
    case: Case,
    *,
    shifted_z: float = 8.0,
    block_z: float = 8.0,
    left_share: float = 0.3,
    min_score: float = 0.15,
) -> Detected:
    for target in listed(case, "data_targets"):
        finding = _whole(case, target, shifted_z) or _block(case, target, block_z, left_share, min_score)
        if finding is not None:
            return finding
    return None


def _whole(case: Case, target: Fact, least: float) -> Finding | None:
    shift, z = number(target, "shift"), number(target, "shifted_z")
    if shift is None or z is None or z < least:
        return None
    table = word(target, "table")
    phrase, places = reading(case, table)
    score, own = number(target, "shifted_score") or 0.0, number(target, "score") or 0.0
    return Finding(
        f"{table}: inputs say nothing of the label in their own row ({percent(max(0.0, own))} predicted, "
        f"{percent(number(target, 'chance') or 0.0)} by chance) and much of the one {_further(shift)} "
        f"({percent(score)}): all labels are shifted{phrase}.",
        symptom="silent_defect",
        severity="critical",
        numbers={"shift": shift, "score": score, "file": table},
        places=places,
    )


def _block(case: Case, target: Fact, least: float, remaining: float, min_score: float) -> Finding | None:
    first, last, z = (number(target, key) for key in ("block_first", "block_last", "block_z"))
    inside, elsewhere, chance = (number(target, f"block_{key}") for key in ("score", "elsewhere", "chance"))
    if first is None or last is None or z is None or inside is None or elsewhere is None or chance is None:
        return None
    if z < least or elsewhere - chance < min_score:
        return None
    shift = number(target, "block_shift")
    if shift is None and inside - chance > remaining * (elsewhere - chance):
        return None
    table = word(target, "table")
    phrase, places = reading(case, table)
    fits = (
        f"; with the labels {_further(shift)} they fit "
        f"({percent(number(target, 'block_shifted_score') or 0.0)})"
        if shift is not None
        else ""
    )
    return Finding(
        f"{table}: in rows {round(first):,} to {round(last):,} the inputs predict "
        f"{percent(max(0.0, inside))} of "
        f"the labels ({percent(chance)} by chance), elsewhere {percent(elsewhere)}{fits}: the "
        "labels of these "
        f"rows belong to others{phrase}.",
        symptom="silent_defect",
        severity="high",
        numbers={"first": first, "last": last, "score": inside, "elsewhere": elsewhere, "file": table},
        places=places,
    )


def _further(shift: float) -> str:
    count = abs(round(shift))
    return f"{count} row{'s' if count > 1 else ''} {'below' if shift > 0 else 'above'}"


def _facts(**target: Any) -> dict[str, Any]:
    return {"data_files": [{"name": "a.npz"}], "data_targets": [{"table": "a.npz:X", **target}]}


def _block_facts(inside: float, z: float, **fields: Any) -> dict[str, Any]:
    block = {"block_first": 1100, "block_last": 1890, "block_z": z, "block_score": inside}
    return _facts(**block, block_elsewhere=0.8, block_chance=0.34, **fields)


def fires() -> Runs:
    yield run({}, facts=_facts(shift=1, shifted_z=30.0, shifted_score=0.8, score=0.34, chance=0.34))
    yield run({}, facts=_block_facts(0.3, 30.0))
    yield run({}, facts=_block_facts(0.5, 30.0, block_shift=-1, block_shifted_score=0.78))


def silent() -> Runs:
    yield run({}, facts=_facts(score=0.34, chance=0.34, shifts_tried=6))
    yield run({}, facts=_block_facts(0.72, 9.0))
    yield run({}, facts=_block_facts(0.3, 5.0))
