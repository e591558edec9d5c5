"""Images of a folder cannot be decoded, or are of one colour throughout.

Seen for any file that cannot be decoded, and when {min_flat:%} of the images or more are of a single
colour: what a failed download or conversion leaves. One colour alone, in fewer, is a sign.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word, words
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed
from traindx.testing.sketch import run

DETECTOR = Detector(title="Broken images", needs=NEEDS, family="odd_values_in_file")


def detect(case: Case, *, min_flat: float = 0.02) -> Detected:
    for one in listed(case, "data_images"):
        total = number(one, "measured") or 1.0
        broken, flat = number(one, "broken") or 0.0, number(one, "flat") or 0.0
        if not broken and not flat:
            continue
        folder = word(one, "folder")
        listed_files = words(one, "broken_files" if broken else "flat_files")
        what = "cannot be decoded" if broken else "are of one colour throughout"
        count = broken or flat
        return Finding(
            f"{folder}: {round(count):,} of {round(total):,} images {what}, such as "
            f"{listed_files[0] if listed_files else ''}.",
            symptom="silent_defect" if broken or flat / total >= min_flat else None,
            severity="medium",
            numbers={"broken": broken, "flat": flat, "share": count / total, "text": percent(count / total)},
        )
    return None


def _facts(broken: int, flat: int) -> dict[str, Any]:
    fact = {"folder": "images", "measured": 400, "broken": broken, "flat": flat}
    fact |= {"broken_files": ["a/3.png: UnidentifiedImageError"], "flat_files": ["a/4.png"]}
    return {"data_files": [{"name": "images"}], "data_images": [fact]}


def fires() -> Runs:
    yield run({}, facts=_facts(3, 0))
    yield run({}, facts=_facts(0, 30))


def silent() -> Runs:
    yield run({}, facts=_facts(0, 0))
    yield run({}, facts={"data_files": [{"name": "a.csv"}]})
