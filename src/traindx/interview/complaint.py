"""What somebody says is wrong: numbers of the menu, ids, or words of their own, as symptoms."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from traindx.knowledge.catalogue import Symptom, symptoms

_DENIED = frozenset({"no", "not", "never", "without", "isnt", "dont", "doesnt", "wasnt"})
_FILLERS = frozenset(
    "the a an is are it its my of in at on to and or but i we have has be was very too so then with".split()
)
# The same thing in words that share no letters.
_SAME = {
    "decreas": "fall",
    "reduc": "fall",
    "drop": "fall",
    "declin": "fall",
    "down": "fall",
    "increas": "rise",
    "ris": "rise",
    "grow": "rise",
    "up": "rise",
    "val": "validation",
    "eval": "validation",
    "dev": "validation",
    "train": "training",
    "acc": "accuracy",
    "grad": "gradient",
    "gpu": "device",
    "net": "network",
    "diverg": "diverge",
    "explod": "explode",
    "explos": "explode",
}
_SENTENCES = re.compile(r"[.;!?\n]")
_TURNS = re.compile(r"\bbut\b|\bhowever\b|\balthough\b", re.IGNORECASE)
_PARTIAL = 0.75
_NEAR = 0.7
_LONGEST = 2000


@dataclass(frozen=True)
class Understood:
    """The stated symptoms, and what was not understood."""

    symptoms: tuple[str, ...]
    guessed: bool = False
    left: str = ""


def menu() -> list[Symptom]:
    """The symptoms to choose from, in the order they are offered."""
    return sorted((one for one in symptoms().values() if one.menu), key=lambda one: one.menu)


def understand(text: str) -> Understood:
    """`1 3`, `nonfinite, plateau` or a sentence. What was guessed from words wants to be confirmed."""
    listed = menu()
    parts = [part for part in re.split(r"[\s,;+]+", text.strip().lower()) if part and part != "and"]
    if parts and all(part.isdecimal() or part in symptoms() for part in parts):
        wrong = [p for p in parts if p.isdecimal() and not 1 <= int(p) <= len(listed)]
        chosen = [listed[int(p) - 1].id if p.isdecimal() else p for p in parts if p not in wrong]
        return Understood(tuple(dict.fromkeys(chosen)), left=", ".join(wrong))
    matches = matched(text)
    return Understood(tuple(matches), guessed=bool(matches), left="" if matches else text.strip())


def matched(text: str) -> list[str]:
    """The symptoms that a description speaks of, the clearest first."""
    scores: dict[str, float] = {}
    for clause in _clauses(text[:_LONGEST]):
        stems = _stems(clause)
        fits = {
            one.id: max((_fits(stems, phrase) for phrase in _phrases(one)), default=0.0)
            for one in symptoms().values()
        }
        clearest = max(fits.values())
        for id, score in fits.items():
            if score and score >= _NEAR * clearest:
                scores[id] = max(score, scores.get(id, 0.0))
    return sorted(scores, key=lambda id: -scores[id])[:3]


def _clauses(text: str) -> list[str]:
    """Sentences; one that denies something is cut where it turns: `no NaN but it oscillates`."""
    parts: list[str] = []
    for sentence in _SENTENCES.split(text):
        parts += _TURNS.split(sentence) if _DENIED & set(_stems(sentence)) else [sentence]
    return parts


def _phrases(one: Symptom) -> list[tuple[str, ...]]:
    written = [*one.words, one.told, one.title, one.id.replace("_", " ")]
    return [stems for phrase in written if (stems := tuple(_stems(phrase)))]


def _fits(stems: Sequence[str], phrase: Sequence[str]) -> float:
    """How much of a phrase was said, by its length; nothing when its word is denied."""
    wanted = [stem for stem in phrase if stem not in _DENIED]
    denies = len(wanted) < len(phrase)
    places = [stems.index(stem) for stem in wanted if stem in stems]
    share = len(places) / len(wanted) if wanted else 0.0
    if share < 1.0 and (share < _PARTIAL or len(wanted) < 3):
        return 0.0
    first = min(places)
    denied = any(stem in _DENIED for stem in stems[max(0, first - 3) : max(places) + 1])
    if denied != denies:
        return 0.0
    return share * (len(wanted) + denies)


def _stems(text: str) -> list[str]:
    plain = re.sub(r"n't\b", " not", text.lower().replace("\u2019", "'"))
    return [_stem(word) for word in re.findall(r"[a-z]+", plain) if word not in _FILLERS]


def _stem(word: str) -> str:
    for ending in ("ations", "ation", "ings", "ing", "ies", "ied", "ed", "es", "e", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word.removesuffix(ending)
            break
    return _SAME.get(word, word)
