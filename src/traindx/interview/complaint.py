"""A user's complaint as symptoms: numbers of the menu, ids, or their own words."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from traindx.interview.clauses import words
from traindx.interview.observations import observations
from traindx.interview.plans import PlannedAttempt, understood_plans
from traindx.interview.shown_symptoms import shown_by
from traindx.knowledge.catalogue import Symptom, symptoms

_NEAREST = 3


@dataclass(frozen=True)
class Understood:
    """The stated symptoms, and how the words were read (`observed`); `left` was not understood.

    Without a symptom, `nearest` are those it may be, and `plans` what somebody intends to do about it.
    """

    symptoms: tuple[str, ...]
    guessed: bool = False
    left: str = ""
    observed: tuple[str, ...] = ()
    nearest: tuple[str, ...] = ()
    plans: tuple[PlannedAttempt, ...] = ()


def menu() -> list[Symptom]:
    """The symptoms to choose from, in the order they are offered."""
    return sorted(
        (symptom for symptom in symptoms().values() if symptom.menu), key=lambda symptom: symptom.menu
    )


def understand(text: str) -> Understood:
    """`1 3`, `nonfinite, plateau` or a sentence. What was guessed from words wants to be confirmed."""
    listed = menu()
    parts = [part for part in re.split(r"[\s,;+]+", text.strip().lower()) if part and part != "and"]
    if parts and all(part.isdecimal() or part in symptoms() for part in parts):
        wrong = [p for p in parts if p.isdecimal() and not 1 <= int(p[:9]) <= len(listed)]
        chosen = [listed[int(p) - 1].id if p.isdecimal() else p for p in parts if p not in wrong]
        return Understood(tuple(dict.fromkeys(chosen)), left=", ".join(wrong))
    observed = observations(text)
    symptoms_shown = tuple(shown_by(observed))
    intends = any(word.name == "plan" for word in words(text))
    return Understood(
        symptoms_shown,
        guessed=bool(symptoms_shown),
        left="" if symptoms_shown else text.strip(),
        observed=tuple(dict.fromkeys(str(observation) for observation in observed)),
        nearest=() if symptoms_shown else _nearest(text),
        plans=tuple(understood_plans(text)) if intends else (),
    )


def _nearest(text: str) -> tuple[str, ...]:
    """The symptoms whose own sentences share most words with a text, rare words first; maybe none."""
    meanings_of = {
        symptom.id: _meanings(f"{symptom.statement}. {symptom.meaning}") for symptom in symptoms().values()
    }
    often = Counter(meaning for meanings in meanings_of.values() for meaning in meanings)
    text_meanings = _meanings(text)
    shared = {
        id: sum(1 / often[meaning] for meaning in text_meanings & meanings)
        for id, meanings in meanings_of.items()
    }
    best = sorted((id for id, weight in shared.items() if weight), key=lambda id: -shared[id])
    return tuple(best[:_NEAREST])


def _meanings(text: str) -> set[str]:
    """What a text is about. What it says of that is as good a guide only where it names a symptom."""
    return {word.name for word in words(text) if word.kind in ("side", "quantity", "symptom")}


def not_understood(understood: Understood) -> str:
    """What was understood of a text that names no symptom, and the nearest choices, as sentences."""
    text = f'"{understood.left[:60]}" is not understood'
    if understood.observed:
        text += f": it says {'; '.join(understood.observed[:3])}, but not what is wrong"
    choices = "; ".join(f"{symptoms()[name].statement} ({name})" for name in understood.nearest)
    return f"{text}. Nearest: {choices}." if choices else f"{text}."
