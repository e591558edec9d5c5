"""What a reader (a person or an assistant) suspects: a cause, and maybe the line where it is.

A suspicion is a witness in the ranking of causes with one stated weight, `SUSPECTED_BITS`. It changes neither
the verdict nor a severity, and counts nothing where measurements speak against the cause.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from functools import cache
from pathlib import Path

from traindx.core.nouns import Diagnosis, Evidence, Hypothesis, Place, Problem
from traindx.knowledge.catalogue import causes, causes_of, symptoms
from traindx.knowledge.infer import MOST
from traindx.knowledge.judge import SHOWN

# Whoever suspects a cause makes it twice as likely, compared with every other one.
SUSPECTED_BITS = 1.0
# Measured evidence from here on refutes a cause, or is as good as proof of it.
DECISIVE_BITS = 3.0
_ID = "suspected"
_PLACE = re.compile(r"(?P<what>.*\S)\s*@\s*(?P<file>[^@]*?[^@:\s])(?::(?P<line>\d{1,7}))?\s*", re.DOTALL)
_WORD = re.compile(r"[a-z]+|\d+")
_NO_MEANING = frozenset("a an and are is my of the too very was were".split())
_SPELLINGS = {"lr": ("learning", "rate")}
_STEM = 5
_FILE = Path(__file__).parent / "suspicion_words.toml"


class UnknownCause(ValueError):
    """What is suspected is no cause that traindx knows; the message is one line for the user."""


@dataclass(frozen=True)
class Suspicion:
    """A cause that somebody suspects, where (`place`), why, and who (`by`): `you`, or a reader program.

    With `patch` it is what that edit removes, whatever it is.
    """

    cause: str = ""
    place: Place | None = None
    why: str = ""
    by: str = "you"
    patch: str = ""

    @property
    def text(self) -> str:
        """As it is given to `--suspect`, or the name of the patch."""
        if self.place is None:
            return self.cause or self.patch
        line = "" if self.place.line is None else f":{self.place.line}"
        return f"{self.cause}@{self.place.file}{line}"


def suspected(text: str, *, why: str = "", by: str = "you") -> Suspicion:
    """`lr_too_high`, `misaligned_labels@data.py:42` or words; raises UnknownCause with the nearest causes."""
    match = _PLACE.fullmatch(text.strip())
    if match is None:
        return Suspicion(cause_of(text), why=why, by=by)
    place = Place(match["file"], int(match["line"]) if match["line"] else None)
    return Suspicion(cause_of(match["what"]), place, why, by)


def cause_of(text: str) -> str:
    """The id of the cause that an id, a title or words mean."""
    spelled = _spelled(text)
    titles = {_spelled(cause.title): id for id, cause in causes().items()}
    if spelled in causes() or spelled in titles:
        return titles.get(spelled, spelled)
    looks_like_an_id = "_" in text and " " not in text.strip()
    fitting = [] if looks_like_an_id else _fitting(text)
    if len(fitting) == 1:
        return fitting[0]
    raise UnknownCause(_unknown(text, spelled, fitting))


def _spelled(text: str) -> str:
    return "_".join(text.lower().replace("-", " ").replace("_", " ").split())


def _unknown(text: str, spelled: str, fitting: Sequence[str]) -> str:
    if spelled in symptoms():
        behind = ", ".join(cause.id for cause in causes_of(spelled)[:4])
        return f"{spelled} is a symptom. Suspect one of its causes: {behind}, ..."
    close = get_close_matches(spelled, causes(), n=2, cutoff=0.6)
    near = [*fitting, *close] or _sharing_words(text)
    near = list(dict.fromkeys(near))[:3]
    hint = f"Did you mean {' or '.join(near)}? " if near else ""
    return f"no cause is called {text.strip()[:60]!r}. {hint}'traindx list causes' shows them all."


def _fitting(text: str) -> list[str]:
    """The causes of which the longest phrase fits."""
    words = _stems(text)
    lengths = {
        id: max((len(phrase) for phrase in phrases if phrase <= words), default=0)
        for id, phrases in _phrases().items()
    }
    longest = max(lengths.values())
    return [id for id, length in lengths.items() if longest and length == longest]


@cache
def _phrases() -> Mapping[str, Sequence[frozenset[str]]]:
    table = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {id: [_stems(phrase) for phrase in table.get(id, ())] for id in causes()}


def _sharing_words(text: str) -> list[str]:
    """The causes whose title and meaning share most words with a text."""
    words = _stems(text)
    shared = {id: len(words & _stems(f"{cause.title} {cause.meaning}")) for id, cause in causes().items()}
    return [id for id in sorted(shared, key=lambda id: -shared[id]) if shared[id]]


def _stems(text: str) -> frozenset[str]:
    words = _WORD.findall(text.lower().replace("_", " "))
    plain = [part for word in words for part in _SPELLINGS.get(word, (word,))]
    return frozenset(word.rstrip("s")[:_STEM] for word in plain if word not in _NO_MEANING)


def joined(diagnosis: Diagnosis, suspicions: Sequence[Suspicion]) -> Diagnosis:
    """The diagnosis with the suspicions among the evidence; its verdict and severities stay."""
    problems = tuple(with_witnesses(problem, suspicions) for problem in diagnosis.problems)
    return replace(diagnosis, problems=problems)


def trimmed(diagnosis: Diagnosis, suspicions: Sequence[Suspicion]) -> Diagnosis:
    """A diagnosis with every cause, cut to the likely ones and those that are suspected."""
    suspected = {suspicion.cause for suspicion in suspicions}
    problems = []
    for problem in diagnosis.problems:
        likely = [h for h in problem.hypotheses if h.confidence >= SHOWN[1]][: SHOWN[0]]
        retained = [h for h in problem.hypotheses if h in likely or h.cause in suspected]
        hidden = sum(h.confidence for h in problem.hypotheses if h not in retained)
        problems.append(replace(problem, hypotheses=tuple(retained), rest=problem.rest + hidden))
    return replace(diagnosis, problems=tuple(problems))


def with_witnesses(problem: Problem, suspicions: Sequence[Suspicion]) -> Problem:
    """The causes of a problem ranked again, with who suspects them."""
    by_cause = {suspicion.cause: suspicion for suspicion in reversed(suspicions)}
    bits = {
        h.cause: SUSPECTED_BITS if _measured(h) > -DECISIVE_BITS else 0.0
        for h in problem.hypotheses
        if h.cause in by_cause
    }
    if not bits:
        return problem
    weights = {h.cause: h.confidence * 2.0 ** bits.get(h.cause, 0.0) for h in problem.hypotheses}
    total = sum(weights.values()) + problem.rest
    hypotheses = [
        replace(_with_witness(h, by_cause, bits), confidence=min(MOST, weights[h.cause] / total))
        for h in problem.hypotheses
    ]
    hypotheses.sort(key=lambda h: -h.confidence)
    rest = max(0.0, 1.0 - sum(h.confidence for h in hypotheses))
    return replace(problem, hypotheses=tuple(hypotheses), rest=rest)


def _with_witness(
    hypothesis: Hypothesis, by_cause: Mapping[str, Suspicion], bits: Mapping[str, float]
) -> Hypothesis:
    if hypothesis.cause not in bits:
        return hypothesis
    witness = by_cause[hypothesis.cause].by
    words = "You suspect it" if witness == "you" else f"{witness} suspects it"
    item = Evidence(_ID, f"{words}; that counts {SUSPECTED_BITS:g} bit.", SUSPECTED_BITS)
    if not bits[hypothesis.cause]:
        item = Evidence(_ID, f"{words}; measurements speak against it, so that counts nothing.", 0.0)
    evidence = sorted((*hypothesis.evidence, item), key=lambda e: -e.bits)
    return replace(hypothesis, evidence=tuple(evidence))


def _measured(hypothesis: Hypothesis) -> float:
    return sum(item.bits for item in (*hypothesis.evidence, *hypothesis.against))
