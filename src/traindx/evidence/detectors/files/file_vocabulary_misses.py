"""A stored vocabulary does not know the words of the data: it was made of other texts.

Seen when, by the way of cutting texts that suits it best, it knows less than {min_known:%} of the words.
The rest reaches the model as one token for "unknown".

Silent for vocabularies of word pieces, which know everything in parts.
"""

from typing import Any

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, number, word, words
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.detectors.files._facts import NEEDS, listed, reading
from traindx.testing.sketch import run

DETECTOR = Detector(title="A vocabulary of other texts", needs=NEEDS, family="vocabulary_misses")


def detect(case: Case, *, min_known: float = 0.75) -> Detected:
    for one in listed(case, "data_vocabularies"):
        known = number(one, "known")
        if known is None or known >= min_known:
            continue
        name, table = word(one, "file"), word(one, "table")
        phrase, places = reading(case, name)
        examples = ", ".join(words(one, "examples")[:3])
        return Finding(
            f"{name} knows {percent(known)} of the words of {table} (not: {examples}): most of a "
            "text reaches the "
            f"model as unknown{phrase}.",
            symptom="silent_defect",
            severity="high" if known < 0.5 else "medium",
            numbers={"known": known, "file": name},
            places=places,
        )
    return None


def _facts(known: float) -> dict[str, Any]:
    fact = {"file": "vocab.json", "table": "reviews.tsv", "known": known, "examples": ["the", "good"]}
    return {"data_files": [{"name": "vocab.json"}], "data_vocabularies": [fact]}


def fires() -> Runs:
    yield run({}, facts=_facts(0.3))


def silent() -> Runs:
    yield run({}, facts=_facts(0.97))
    yield run({}, facts={"data_files": [{"name": "a.csv"}]})
