"""Images whose colours are not those of the other split."""

from traindx.evidence.detector import (
    Case,
    Cases,
    Detected,
    Detector,
    Fact,
    Finding,
    facts,
    number,
    word,
    words,
)
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors.files._facts import NEEDS, data, listed


@Detector("Red and blue exchanged", needs=NEEDS, family="splits_of_files")
def file_colours_exchanged(
    case: Case,
    *,
    max_exchanged: float = 0.3,
    clear_exchanged: float = 0.1,
    min_direct: float = 1.0,
    z_score: float = 8.0,
) -> Detected:
    """Images of a class have red and blue exchanged in one split: BGR of OpenCV, saved as RGB.

    Compares red and blue against green, and their spreads, between the splits, class by class. Seen when
    those of a class are {min_direct} spreads of its images apart or more, beyond chance, and come to
    {max_exchanged} of that once red and blue are exchanged, while another class agrees as it is; to
    {clear_exchanged} of that where no other class says anything (all images of a split may be so).

    Silent for grey images and classes of as much red as blue, for another light (which moves colours of all
    classes alike, and does not mirror them), and for classes with few images on either side.
    """
    for fact in listed(case, "data_images"):
        rows = facts(fact.get("colours"))
        far = [
            row for row in rows if _value(row, "direct") >= min_direct and _value(row, "direct_z") >= z_score
        ]
        mirrored = [row for row in far if _value(row, "exchanged") <= max_exchanged * _value(row, "direct")]
        if not mirrored or len(mirrored) < len(far):
            continue
        agree = any(
            _value(row, "exchanged") >= min_direct
            and _value(row, "direct") <= max_exchanged * _value(row, "exchanged")
            for row in rows
        )
        worst = max(mirrored, key=lambda row: _value(row, "direct"))
        if not agree and _value(worst, "exchanged") > clear_exchanged * _value(worst, "direct"):
            continue
        first, second = [split or "the rest" for split in words(worst, "splits")]
        sides = [text(_value(worst, f"balance_{side}")) for side in ("first", "second")]
        named = ", ".join(word(row, "class") for row in mirrored[:3])
        rest = "; other classes agree as they are" if agree else ""
        return Finding(
            f"{word(fact, 'folder')}: images of {named} have red and blue exchanged in one of {first} and "
            f"{second}: red less blue is {sides[0]} and {sides[1]}, and colours agree once they are "
            f"exchanged{rest}.",
            symptom="silent_defect",
            severity="high",
            numbers={"classes": len(mirrored), "classes_all": len(rows)},
        )
    return None


def _value(row: Fact, key: str) -> float:
    return number(row, key) or 0.0


def cases() -> Cases:
    mirrored = {
        "class": "mango",
        "splits": ["train", "val"],
        "direct": 4.0,
        "exchanged": 0.3,
        "direct_z": 40.0,
    }
    mirrored |= {"balance_first": -90.0, "balance_second": 88.0}
    same = {"class": "plum", "splits": ["train", "val"], "direct": 0.2, "exchanged": 3.0, "direct_z": 1.0}
    images = {"folder": "fruit", "measured": 300}
    yield from file_colours_exchanged.fires(
        data("data_images", images, colours=[mirrored, same]),
        data("data_images", images, colours=[mirrored] * 3),
    )
    moved = {**same, "direct": 2.0, "exchanged": 1.5, "direct_z": 20.0}
    yield from file_colours_exchanged.silent(
        data("data_images", images, colours=[moved, same]),
        data("data_images", images, colours=[same, same]),
        data("data_images", images, colours=[{**mirrored, "exchanged": 1.0}]),
    )
