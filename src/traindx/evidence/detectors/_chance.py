"""Levels that a model reaches without looking at its input."""

from __future__ import annotations

import math
from dataclasses import dataclass

from traindx.evidence.case import Case

# Numbers of classes and vocabulary sizes that are met often.
_CLASSES = (*range(2, 21), 50, 100, 200, 1000)
_VOCABULARIES = (21128, 28996, 30522, 32000, 32128, 50257, 50265, 50304, 64000, 65024, 128256, 151936, 250002)


@dataclass(frozen=True)
class Chance:
    """A level of the loss and what would give it; `known` when the run's settings say so."""

    level: float
    why: str
    classes: int | None = None
    known: bool = False


def chance_near(
    case: Case, level: float, *, tolerance: float, known_tolerance: float = 0.03
) -> Chance | None:
    """The chance level nearest to a loss, if one is near enough; the run's own settings count first."""
    for chance in _from_settings(case):
        if abs(level / chance.level - 1) <= known_tolerance:
            return chance
    near = [c for c in _usual() if abs(level / c.level - 1) <= tolerance]
    return min(near, key=lambda c: abs(level / c.level - 1), default=None)


def known_chance(case: Case) -> Chance | None:
    """The chance level that the settings tell: classes before vocabulary."""
    return next(iter(_from_settings(case)), None)


def exact_chance(level: float, *, tolerance: float = 2e-4, most: int = 1000) -> Chance | None:
    """ln K of any K up to `most`, for a level known to four digits."""
    if not 0.6 < level < math.log(most) + 0.01:
        return None
    classes = round(math.exp(level))
    chance = Chance(math.log(classes), f"ln {classes}, what even guesses over {classes} give", classes)
    return chance if abs(level / chance.level - 1) <= tolerance else None


def _from_settings(case: Case) -> list[Chance]:
    found = []
    for setting, what in (("classes", "classes"), ("vocab_size", "tokens of the vocabulary")):
        number = case.number(setting)
        if number is not None and number >= 2:
            why = f"ln {number:,.0f}, what even guesses over the {number:,.0f} {what} give"
            found.append(Chance(math.log(number), why, int(number), known=True))
    return found


def _usual() -> list[Chance]:
    classes = [Chance(math.log(k), f"ln {k}, what even guesses over {k} classes give", k) for k in _CLASSES]
    tokens = [
        Chance(math.log(k), f"ln {k:,}, what even guesses over {k:,} tokens give", k) for k in _VOCABULARIES
    ]
    return [*classes, *tokens, Chance(0.25, "0.25, the variance of evenly spread 0/1 targets")]
