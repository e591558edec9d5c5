"""A description in words as observations: which quantity, on which side, is in which state.

Each clause has a subject (training or validation; loss, accuracy, gradient, ...), states (falling, flat,
high, NaN, ...) and what modifies them (not, barely, from the start, after). A clause without a subject
continues the one before it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from traindx.interview.clauses import Word, clauses, has

# What the opposite of a state is; one that is not listed is simply not there.
_OPPOSITES = {
    "falling": "flat",
    "rising": "not rising",
    "improving": "flat",
    "changing": "flat",
    "learning": "not learning",
    "converging": "not converging",
    "good": "bad",
    "right": "suspicious",
    "high": "not high",
    "settling": "swinging",
    "recovering": "worsening",
    "fitting": "bad",
    "generalising": "not generalising",
    "flowing": "zero",
    "firing": "dead",
    "reproducing": "suspicious",
    "happening": "not learning",
    "fast": "slow",
    "busy": "idle",
    "at chance": "at chance",
}
_MOVES = frozenset({"falling", "improving", "rising", "learning", "converging", "changing"})
# Where a value goes says more than how large it is: `stuck at a high loss`.
_MOTIONS = _MOVES | {
    "exploding",
    "spiking",
    "swinging",
    "flat",
    "stalled",
    "worsening",
    "NaN",
    "gap",
    "different",
}
_QUALITIES = frozenset({"bad", "good", "wrong"})
_LEVELS = _QUALITIES | {"high", "low"}
_GENERIC = ("model", "layer")
_DENIALS = ("not", "barely", "stop", "nolonger")
_SIDES = {"train": "training", "val": "validation"}
_QUANTITIES = {"score": "accuracy", "time": "speed", "rate": "learning rate", "model": ""}


@dataclass(frozen=True)
class Observation:
    """What a clause says. `sides` is empty when none is named; `against` is the side it is compared with."""

    sides: tuple[str, ...]
    quantity: str
    state: str
    when: str = ""
    slow: bool = False
    values: tuple[float, ...] = ()
    against: str = ""

    def __str__(self) -> str:
        """`validation accuracy low`, for people."""
        state = " ".join(f"{value:g}" for value in self.values) if self.state == "value" else self.state
        subject = [" and ".join(_SIDES[side] for side in self.sides)]
        subject += [_QUANTITIES.get(self.quantity, self.quantity), state.replace("_", " ")]
        if self.against:
            subject.append(f"than {_SIDES.get(self.against, 'it should be')}")
        return " ".join(part for part in subject if part)


def observations(text: str) -> list[Observation]:
    """Everything that a description states, in its order; what is denied is left out."""
    observed: list[Observation] = []
    sides: tuple[str, ...] = ()
    quantity = ""
    for clause in clauses(text):
        own_sides, own_quantity = _subject(clause)
        if own_sides or own_quantity not in ("", "model"):
            sides, quantity = own_sides, own_quantity or (quantity if own_sides else "")
        states = _states(clause, sides, quantity) or list(_bare(clause, sides, quantity))
        kinds = {(state.state, state.quantity == "time") for state in states}
        adverb = not (own_sides or own_quantity) and kinds == {("slow", False)}
        if adverb and observed and observed[-1].state in _MOVES:  # `it learns, but slowly`
            observed[-1] = replace(observed[-1], slow=True)
        else:
            observed += states
    return [observation for observation in observed if observation.state]


def _subject(clause: Sequence[Word]) -> tuple[tuple[str, ...], str]:
    """The sides and the quantity that a clause names; `it` and `the model` only when nothing else is."""
    sides = tuple(dict.fromkeys(word.name for word in clause if word.kind == "side"))
    if "both" in sides:
        sides = ("train", "val")
    names = [word.name for word in clause if word.kind == "quantity"]
    if any(word.name == "reloaded" for word in clause):
        names = [name for name in names if name != "weight"]  # they are what was loaded
    quantity = next((name for name in names if name not in _GENERIC), names[0] if names else "")
    if quantity == "output" and "unit" in names:  # `the outputs of my sigmoids`
        quantity = "unit"
    return sides, "score" if quantity == "result" and sides else quantity


def _states(clause: Sequence[Word], sides: tuple[str, ...], quantity: str) -> list[Observation]:
    names = {word.name for word in clause}
    moment = next((name for name in ("reloaded", "again", "start", "later") if name in names), "")
    values = tuple(word.value for word in clause if word.kind == "number" and word.name != "time")
    slow = bool(names & {"slow", "creeping"})
    sides, against = _compared(clause, sides, values)
    observed: list[Observation] = []
    denial = ""
    for word in clause:
        if word.name in _DENIALS:
            denial = word.name
        if word.kind not in ("state", "symptom"):
            continue
        since_start = denial == "nolonger" and moment == "start"
        when = "later" if denial in ("stop", "nolonger") and not since_start else moment
        state = _denied(word.name, "" if denial == "barely" and word.name == "rising" else denial)
        if denial == "stop" and state != "flat":
            observed.append(Observation(sides, quantity, "flat", when, slow, values))
        observed.append(Observation(sides, quantity, state, when, slow, values, against))
        denial = ""
    if denial == "stop":
        observed = [observation for observation in observed if observation.state not in _MOVES]
        observed.append(Observation(sides, quantity, "flat", "later", values=values))
    ways = [observation.state for observation in observed if observation.state in ("rising", "falling")]
    if len(ways) > 3 and all(way != following for way, following in pairwise(ways)):  # `up down up down`
        observed = [Observation(sides, quantity, "swinging", moment, values=values)]
    states = {observation.state for observation in observed}
    levels = _LEVELS if len(sides) == 2 else _QUALITIES  # `both stay high`, `stays blurry`
    if states & ({"zero", "dead"} if quantity == "unit" else levels):
        observed = [observation for observation in observed if observation.state != "flat"]
    elif states & _MOTIONS:
        observed = [
            observation
            for observation in observed
            if observation.state not in ("high", "low", "zero", "suspicious")
        ]
    return observed


def _compared(
    clause: Sequence[Word], sides: tuple[str, ...], values: Sequence[float]
) -> tuple[tuple[str, ...], str]:
    """`validation worse than training`, `worse than expected`: who, and against what."""
    names = [word.name for word in clause]
    if "than" not in names:
        return sides, ""
    if len(sides) == 2:
        side_names = [word.name for word in clause if word.kind == "side"]
        return (side_names[0],), side_names[-1]
    return sides, "" if values or "at chance" in names else "other"


def _bare(clause: Sequence[Word], sides: tuple[str, ...], quantity: str) -> Iterator[Observation]:
    """A quantity with a number, or denied, is a state too: `gradient norm 5000`, `no gradient`, `3 hours`."""
    names = {word.name for word in clause}
    times = [word for word in clause if word.kind == "number" and word.name == "time"]
    values = tuple(word.value for word in clause if word.kind == "number" and word.name != "time")
    if "from" in names and len(values) > 1 and quantity != "time":
        moved = "rising" if values[-1] > values[0] else "falling"
        yield Observation(sides, quantity, "barely falling" if "barely" in names else moved, values=values)
    elif quantity == "time" or times:
        is_answer = bool(times) and quantity in ("time", "device", "") and not sides
        if {"takes", "barely"} & names or is_answer or (quantity == "time" and values):
            yield Observation(sides, "time", "slow", values=values)
    elif len(values) > 3 and quantity in ("loss", "score") and _alternates(values):
        yield Observation(sides, quantity, "swinging", values=values)
    elif values and (quantity or sides):
        level = "low" if "barely" in names or {"not", "bound"} <= names else "value"
        quantity_name = quantity or ("score" if "percent" in names else "")
        yield Observation(
            sides, quantity_name, level, "reloaded" if "reloaded" in names else "", values=values
        )
    elif names & {"not", "barely"} and has(clause, "side", "quantity") and quantity not in ("", "model"):
        yield Observation(sides, quantity, "flat" if quantity in ("loss", "score") else "zero")


def _alternates(values: Sequence[float]) -> bool:
    """Whether values go up and down in turn by half of their size or more: `0.5 3.2 0.4 5.1`."""
    moves = [following - value for value, following in pairwise(values)]
    turns = all(move * following < 0 for move, following in pairwise(moves))
    return turns and min(abs(move) for move in moves) >= 0.5 * max(map(abs, values)) * 0.5


def _denied(state: str, denial: str) -> str:
    """The state after a denial; empty when nothing remains of it."""
    if denial in ("not", "nolonger"):
        return _OPPOSITES.get(state, "")
    if denial == "barely" and state in _MOVES:
        return "flat" if state == "changing" else "barely falling"
    return "flat" if denial == "stop" and state in _MOVES else state
