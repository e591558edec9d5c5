"""Files of training and validation data that do not fit each other."""

from typing import Any

from traindx.evidence.detector import Case, Cases, Detected, Detector, Fact, Finding, facts, number, word
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.detectors.files._facts import NEEDS, is_used, listed, reading
from traindx.testing.sketch import run


@Detector("Training and validation files differ", needs=NEEDS, family="splits_of_files")
def file_splits_differ(
    case: Case,
    *,
    min_ratio: float = 1.45,
    max_disagreement: float = 0.2,
    min_shift: float = 3.0,
    min_unseen: float = 0.02,
    min_apart: float = 0.5,
    max_exchanged: float = 4.0,
    min_direct: float = 12.0,
) -> Detected:
    """The file for validation differs from the one for training: another unit, or other classes.

    Seen when the middle and the spread of a column both differ by one factor ({min_ratio} and more), when
    its middle is {min_shift} times the spread away, or when at least {min_unseen:%} of the validation rows
    are of classes that training never shows. Also when the codes of a column (numbers or words of a few
    kinds) mean other things in the two files: how often each occurs and what it says of the target
    differ far beyond chance ({min_direct} times in mean square), and both agree (up to {max_exchanged}) once
    codes are exchanged.

    Silent for drifts within the spread, ids and dates, and columns that the script drops.
    """
    for pair in listed(case, "data_pairs"):
        splits = pair.get("splits")
        if not isinstance(splits, list) or splits[0] == splits[-1]:
            continue
        unseen = pair.get("unseen_classes")
        counts = [n for n in unseen.values() if isinstance(n, int)] if isinstance(unseen, dict) else []
        share = sum(counts) / max(1.0, number(pair, "rows") or 1.0)
        if counts and share >= min_unseen and sum(counts) >= 5 and isinstance(unseen, dict):
            return _classes(case, pair, sorted(unseen), share)
        apart = number(pair, "classes_apart") or 0.0
        if apart >= min_apart:
            return _apart(case, pair, apart)
        for column in facts(pair.get("permuted")):
            if _exchanged(column, max_exchanged, min_direct) and is_used(
                case.script, word(column, "column"), ()
            ):
                return _codes(case, pair, column)
        for column in facts(pair.get("shifted")):
            if _other_unit(column, min_ratio, max_disagreement, min_shift) and is_used(
                case.script, word(column, "column"), ()
            ):
                return _column(case, pair, column)
    return None


def _other_unit(column: Fact, least: float, tolerance: float, far: float) -> bool:
    ratio, shift = number(column, "ratio"), number(column, "shift")
    first, second = number(column, "first"), number(column, "second")
    if ratio is None or shift is None or first is None or second is None or ratio <= 0:
        return False
    scaled = max(ratio, 1 / ratio) >= least and abs(shift) >= 0.5
    if scaled and first and second / first > 0:
        return abs(second / first / ratio - 1) <= tolerance or abs(shift) >= far
    return abs(shift) >= far


def _column(case: Case, pair: Fact, column: Fact) -> Finding:
    first, second, name = word(pair, "first"), word(pair, "second"), word(column, "column")
    phrase, places = reading(case, second)
    middles = [number(column, key) or 0.0 for key in ("first", "second")]
    ratio = number(column, "ratio") or 1.0
    return Finding(
        f"The column {name} has its middle at {text(middles[0])} in {first} and at "
        f"{text(middles[1])} in {second}, "
        f"and {text(ratio)} times the spread: another unit or another source{phrase}.",
        symptom="silent_defect",
        severity="high",
        numbers={"ratio": ratio, "shift": number(column, "shift") or 0.0, "column": name},
        places=places,
    )


def _classes(case: Case, pair: Fact, names: list[str], share: float) -> Finding:
    first, second = word(pair, "first"), word(pair, "second")
    phrase, places = reading(case, second)
    return Finding(
        f"{percent(share)} of the rows of {second} are of classes that {first} does not have "
        f"({', '.join(names[:3])}{', ...' if len(names) > 3 else ''}){phrase}.",
        symptom="silent_defect",
        severity="high",
        numbers={"share": share},
        places=places,
    )


def _apart(case: Case, pair: Fact, apart: float) -> Finding:
    first, second = word(pair, "first"), word(pair, "second")
    phrase, places = reading(case, second)
    return Finding(
        f"{percent(apart)} of {second} would have to change class to have the shares of the classes that "
        f"{first} has: they were not drawn alike{phrase}.",
        symptom="silent_defect",
        severity="high",
        numbers={"apart": apart},
        places=places,
    )


def _exchanged(column: Fact, most: float, least: float) -> bool:
    keys = [f"{way}_{what}" for way in ("exchanged", "direct") for what in ("shares", "effects")]
    values = [number(column, key) for key in keys]
    if any(value is None for value in values):
        return False
    exchanged, direct = [value or 0.0 for value in values[:2]], [value or 0.0 for value in values[2:]]
    return max(exchanged) <= most and min(direct) >= least


def _codes(case: Case, pair: Fact, column: Fact) -> Finding:
    first, second, name = word(pair, "first"), word(pair, "second"), word(column, "column")
    phrase, places = reading(case, second)
    renamed = column.get("renamed")
    pairs = ", ".join(map(str, renamed[:4])) if isinstance(renamed, list) else ""
    return Finding(
        f"The codes of {name} mean other things in {second} than in {first}: how often each occurs and "
        f"what it says of the target agree once codes are exchanged ({pairs}), and not as they are{phrase}.",
        symptom="silent_defect",
        severity="high",
        numbers={"codes": number(column, "moved") or 0.0, "column": name},
        places=places,
    )


def _facts(**pair: Any) -> dict[str, Any]:
    fact = {"first": "train.csv", "second": "val.csv", "rows": 600, "splits": ["train", "val"], **pair}
    return {"data_files": [{"name": "val.csv"}], "data_pairs": [fact]}


def _shifted(ratio: float, shift: float, first: float, second: float) -> dict[str, Any]:
    return _facts(
        shifted=[{"column": "m1", "ratio": ratio, "shift": shift, "first": first, "second": second}]
    )


def cases() -> Cases:
    yield from file_splits_differ.fires(run({}, facts=_shifted(0.39, -1.6, 70.0, 27.5)))
    yield from file_splits_differ.fires(run({}, facts=_shifted(1.0, 12.0, 15.0, 288.0)))
    yield from file_splits_differ.fires(run({}, facts=_facts(unseen_classes={"7": 60})))
    yield from file_splits_differ.fires(run({}, facts=_facts(classes_apart=0.7)))
    weather = {"column": "weather", "exchanged_shares": 0.8, "exchanged_effects": 0.5, "direct_effects": 90.0}
    codes = {"permuted": [{**weather, "direct_shares": 60.0, "renamed": ["0 as 3", "1 as 0"]}]}
    yield from file_splits_differ.fires(run({}, facts=_facts(**codes)))
    same = {"permuted": [{**weather, "direct_shares": 1.3}]}
    yield from file_splits_differ.silent(run({}, facts=_facts(**same)))
    yield from file_splits_differ.silent(run({}, facts=_shifted(1.1, 0.7, 0.0, 0.7)))
    yield from file_splits_differ.silent(run({}, facts=_shifted(1.6, 0.1, 5.0, 5.3)))
    yield from file_splits_differ.silent(run({}, facts=_facts(unseen_classes={"7": 1}, shifted=[])))
