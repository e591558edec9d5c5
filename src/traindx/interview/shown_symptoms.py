"""Observations in words -> symptoms: training and validation together, each quantity by itself."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from traindx.interview.observations import Observation
from traindx.interview.state_tables import ALONE, GOES, MEANS, ON_VALIDATION, OTHER_QUANTITIES
from traindx.knowledge.catalogue import symptoms

_MOST = 3
_SIMILAR = 0.1
_LOSS_GAP = 1.3
_LARGE_NORM, _SMALL_NORM = 100.0, 0.01
_IDLE = 70.0
_EXACT = 0.001
_SPIKE = 3.0
_OBJECTIVE = ("loss", "score", "model", "")
_DOING_WELL = frozenset({"better", "good", "barely falling"})
_DOING_BADLY = frozenset({"worse", "bad", "flat", "stalled", "at chance", "not learning"})
_CHANGED = frozenset({"value", "bad", "odd", "gap", "at chance"})  # once the weights are loaded again
_CLASSES = (2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 50, 100, 1000)


def shown_by(observed: Sequence[Observation]) -> list[str]:
    """The symptoms that observations show together."""
    objective = [
        _judged(one) for one in observed if one.quantity in _OBJECTIVE and one.state not in symptoms()
    ]
    names = [one.state for one in observed if one.state in symptoms()]
    names += [name for one in observed if one.state != "value" for name in _other(one)]
    names += _of_objective([one for one in objective if one.state])
    if "nonfinite" in names:  # a loss of 0 next to NaN is the filter of a trainer
        names = [name for name in names if name != "silent_defect"]
    # Next to a complaint a number is a fact about it; alone it is the complaint.
    names = names or [name for one in observed for name in _other(one)]
    if not names and _left_and_back(observed):
        names = ["loss_spike"]
    if not names and any(one.quantity == "loss" and _at_chance_exactly(one.values) for one in observed):
        names = ["not_learning"]
    return list(dict.fromkeys(names))[:_MOST]


def _judged(one: Observation) -> Observation:
    """An objective's state as better, worse, good or bad, and so on; empty when it says nothing of it."""
    goes = GOES.get(one.quantity, GOES[""])
    state = goes.get(one.state) or MEANS.get(one.state, one.state)
    if one.slow and state in ("better", "slow") and (state == "better" or one.quantity in ("loss", "score")):
        state = "barely falling"
    if one.state == "value" and not any(one.values):
        return replace(one, state={"loss": "odd", "score": "at chance"}.get(one.quantity, ""))
    if one.state == "different" and len(one.sides) == 2:
        return replace(one, state="gap")
    if one.state in ("wrong", "different") and one.quantity in ("", "model"):
        state = ""
    if one.state == "saturated" and one.quantity == "":
        state = "saturated"
    return replace(one, state=state)


def _other(one: Observation) -> list[str]:
    """The symptoms that a quantity other than the objective shows."""
    state = one.state
    if state == "value" or (state == "flat" and one.values):
        state = _level(one) or state
    table = OTHER_QUANTITIES.get(one.quantity, {})
    return [symptom for symptom, states in table.items() if state in states]


def _level(one: Observation) -> str:
    """What a bare number says of a quantity whose usual size is known."""
    value = abs(one.values[-1])
    if one.quantity == "gradient":
        return "high" if value >= _LARGE_NORM else "low" if value < _SMALL_NORM else ""
    if one.quantity == "unit":
        if one.values[-1] == 0:  # also `80 percent of activations is 0`
            return "zero"
        return "saturated" if value <= 1 else ""
    return "low" if one.quantity == "time" or (one.quantity == "device" and value < _IDLE) else ""


def _of_objective(observed: Sequence[Observation]) -> list[str]:
    observed = _repeated(observed)
    compared = [symptom for one in observed if one.against and (symptom := _compared(one))]
    if compared:
        return compared
    if any(one.when == "reloaded" and one.state in _CHANGED for one in observed):
        return ["silent_defect"]
    train = [one for one in observed if "val" not in one.sides or "train" in one.sides]
    val = [one for one in observed if "val" in one.sides]
    symptom = _between(train, val) if train and val else ""
    if symptom:
        rest = [one for one in observed if one.state in ("NaN", "swinging", "spiking")]
        return [symptom, *(name for one in rest if (name := _alone(one, observed)))]
    if _apart_from_score(observed):
        return ["silent_defect"]
    states = {one.state for one in observed}
    if "NaN" in states:
        observed = [one for one in observed if one.state not in ("worse", "spiking")]
    if states & {"worse", "swinging", "spiking"}:
        observed = [one for one in observed if one.state != "bad"]
    names = [_turned(observed), *(_alone(one, observed) for one in observed)]
    if names[0]:
        return names[:1]
    if "oscillation" in names:
        names = [name for name in names if name != "loss_spike"]
    if "slow_convergence" in names:
        names = [name for name in names if name != "slow_training"]
    return [name for name in names if name]


def _apart_from_score(observed: Sequence[Observation]) -> bool:
    """A loss that falls while the score does not follow."""
    losses = {one.state for one in observed if one.quantity == "loss"}
    scores = {one.state for one in observed if one.quantity == "score"}
    return bool(losses & {"better", "good"} and scores & _DOING_BADLY)


def _repeated(observed: Sequence[Observation]) -> list[Observation]:
    """`60 % on train and about the same on validation`: the state of the other side."""
    settled: list[Observation] = []
    for one in observed:
        if one.state == "same":
            before = settled[-1] if settled and one.sides and settled[-1].sides != one.sides else None
            one = replace(one, state=before.state if before else "flat")
        settled.append(one)
    return settled


def _compared(one: Observation) -> str:
    """Validation against training: worse is overfitting, better is suspicious."""
    worse = {"worse": True, "bad": True, "better": False, "good": False}.get(one.state)
    if one.against == "other":
        return "silent_defect" if worse else ""
    if worse is None or one.against == one.sides[0]:
        return ""
    return "overfitting" if worse == (one.sides[0] == "val") else "silent_defect"


def _between(train: Sequence[Observation], val: Sequence[Observation]) -> str:
    """What training and validation say together."""
    trains, vals = {one.state for one in train}, {one.state for one in val}
    if {"gap", "not generalising"} & (trains | vals):
        return "overfitting"
    if trains & _DOING_WELL and vals & _DOING_BADLY and not vals & {"better", "good"}:
        return "overfitting"
    if trains & {"bad"} and vals & {"bad"}:
        return "underfitting"
    levels = (trains & {"high", "low"}, vals & {"high", "low"})
    if all(levels):
        return "underfitting" if levels[0] == levels[1] else "overfitting"
    return _numbers_apart(train, val)


def _numbers_apart(train: Sequence[Observation], val: Sequence[Observation]) -> str:
    """`99 % on train, 70 % on test`."""
    ours = [one for one in train if one.values and "val" not in one.sides]
    theirs = [one for one in val if one.values and "train" not in one.sides]
    if not ours or not theirs:
        return ""
    own, other = ours[-1].values[-1], theirs[-1].values[-1]
    if "loss" in (ours[-1].quantity, theirs[-1].quantity):
        return "overfitting" if other > _LOSS_GAP * own else ""
    return "overfitting" if own - other > _SIMILAR * abs(own) else ""


def _turned(observed: Sequence[Observation]) -> str:
    """A rise between two falls of one quantity: a spike, or on validation a second descent."""
    if {"loss", "score"} <= {one.quantity for one in observed}:
        return ""
    states = [one.state for one in observed if one.state in ("better", "worse", "spiking")]
    rose = next((n for n, state in enumerate(states) if state != "better"), None)
    if rose is None or "better" not in states[rose:]:
        return ""
    if states[rose] == "spiking":
        return "loss_spike"
    second = any("val" in one.sides or one.quantity == "score" for one in observed)
    return "double_descent" if second else "loss_spike"


def _alone(one: Observation, observed: Sequence[Observation]) -> str:
    if one.state in ("flat", "stalled", "not learning"):
        return _standing(observed)
    validation = one.sides == ("val",)
    return (ON_VALIDATION if validation else ALONE).get(one.state, "")


def _standing(observed: Sequence[Observation]) -> str:
    """Flat from the start, or after a fall: what is said of it anywhere counts."""
    standing = [one for one in observed if one.state in ("flat", "stalled", "not learning")]
    values = [(value, one.quantity) for one in standing for value in one.values]
    stalled = any(one.state == "stalled" for one in standing)
    if any(one.when == "start" for one in standing):
        return "not_learning"
    if not stalled and any(_at_chance(*value) for value in values):
        return "not_learning"
    fell = any(one.state in ("better", "barely falling") for one in observed)
    stopped = stalled or any(one.when == "later" for one in standing)
    return "plateau" if fell or stopped or values else "not_learning"


def _left_and_back(observed: Sequence[Observation]) -> bool:
    """`it was 0.3, then 15, then 0.3 again`."""
    values = [value for one in observed if one.quantity in ("loss", "") for value in one.values]
    return len(values) == 3 and values[1] > _SPIKE * max(values[0], values[2]) > 0


def _at_chance_exactly(values: Sequence[float]) -> bool:
    """`loss 1.386`: the loss of a guess among four, with too many digits to be an accident."""
    return any(abs(value - math.log(classes)) < _EXACT for value in values for classes in _CLASSES)


def _at_chance(value: float, quantity: str) -> bool:
    if quantity == "score":
        share = value / 100 if value > 1 else value
        return share <= 0 or any(abs(share - 1 / classes) < 0.02 / classes for classes in _CLASSES)
    return any(abs(value - math.log(classes)) < 0.01 for classes in _CLASSES)
