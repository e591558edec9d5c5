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
        _with_state(observation)
        for observation in observed
        if observation.quantity in _OBJECTIVE and observation.state not in symptoms()
    ]
    names = [observation.state for observation in observed if observation.state in symptoms()]
    names += [
        name
        for observation in observed
        if observation.state != "value"
        for name in _other_symptoms(observation)
    ]
    names += _of_objective([observation for observation in objective if observation.state])
    if "nonfinite" in names:  # a loss of 0 next to NaN is the filter of a trainer
        names = [name for name in names if name != "silent_defect"]
    # Next to a complaint a number is a fact about it; alone it is the complaint.
    names = names or [name for observation in observed for name in _other_symptoms(observation)]
    if not names and _left_and_back(observed):
        names = ["loss_spike"]
    if not names and any(
        observation.quantity == "loss" and _at_chance_exactly(observation.values) for observation in observed
    ):
        names = ["not_learning"]
    return list(dict.fromkeys(names))[:_MOST]


def _with_state(observation: Observation) -> Observation:
    """An objective's state as better, worse, good or bad, and so on; empty when it says nothing of it."""
    goes = GOES.get(observation.quantity, GOES[""])
    state = goes.get(observation.state) or MEANS.get(observation.state, observation.state)
    if (
        observation.slow
        and state in ("better", "slow")
        and (state == "better" or observation.quantity in ("loss", "score"))
    ):
        state = "barely falling"
    if observation.state == "value" and not any(observation.values):
        return replace(observation, state={"loss": "odd", "score": "at chance"}.get(observation.quantity, ""))
    if observation.state == "different" and len(observation.sides) == 2:
        return replace(observation, state="gap")
    if observation.state in ("wrong", "different") and observation.quantity in ("", "model"):
        state = ""
    if observation.state == "saturated" and observation.quantity == "":
        state = "saturated"
    return replace(observation, state=state)


def _other_symptoms(observation: Observation) -> list[str]:
    """The symptoms that a quantity other than the objective shows."""
    state = observation.state
    if state == "value" or (state == "flat" and observation.values):
        state = _level(observation) or state
    table = OTHER_QUANTITIES.get(observation.quantity, {})
    return [symptom for symptom, states in table.items() if state in states]


def _level(observation: Observation) -> str:
    """The state that a bare number shows, for a quantity whose usual size is known."""
    value = abs(observation.values[-1])
    if observation.quantity == "gradient":
        return "high" if value >= _LARGE_NORM else "low" if value < _SMALL_NORM else ""
    if observation.quantity == "unit":
        if observation.values[-1] == 0:  # also `80 percent of activations is 0`
            return "zero"
        return "saturated" if value <= 1 else ""
    return (
        "low"
        if observation.quantity == "time" or (observation.quantity == "device" and value < _IDLE)
        else ""
    )


def _of_objective(observed: Sequence[Observation]) -> list[str]:
    observed = _repeated(observed)
    compared = [
        symptom for observation in observed if observation.against and (symptom := _compared(observation))
    ]
    if compared:
        return compared
    if any(observation.when == "reloaded" and observation.state in _CHANGED for observation in observed):
        return ["silent_defect"]
    train = [
        observation
        for observation in observed
        if "val" not in observation.sides or "train" in observation.sides
    ]
    val = [observation for observation in observed if "val" in observation.sides]
    symptom = _between(train, val) if train and val else ""
    if symptom:
        rest = [
            observation for observation in observed if observation.state in ("NaN", "swinging", "spiking")
        ]
        return [symptom, *(name for observation in rest if (name := _alone(observation, observed)))]
    if _apart_from_score(observed):
        return ["silent_defect"]
    states = {observation.state for observation in observed}
    if "NaN" in states:
        observed = [observation for observation in observed if observation.state not in ("worse", "spiking")]
    if states & {"worse", "swinging", "spiking"}:
        observed = [observation for observation in observed if observation.state != "bad"]
    names = [_turned(observed), *(_alone(observation, observed) for observation in observed)]
    if names[0]:
        return names[:1]
    if "oscillation" in names:
        names = [name for name in names if name != "loss_spike"]
    if "slow_convergence" in names:
        names = [name for name in names if name != "slow_training"]
    return [name for name in names if name]


def _apart_from_score(observed: Sequence[Observation]) -> bool:
    """A loss that falls while the score does not follow."""
    losses = {observation.state for observation in observed if observation.quantity == "loss"}
    scores = {observation.state for observation in observed if observation.quantity == "score"}
    return bool(losses & {"better", "good"} and scores & _DOING_BADLY)


def _repeated(observed: Sequence[Observation]) -> list[Observation]:
    """`60 % on train and about the same on validation`: the state of the other side."""
    settled: list[Observation] = []
    for observation in observed:
        if observation.state == "same":
            before = (
                settled[-1]
                if settled and observation.sides and settled[-1].sides != observation.sides
                else None
            )
            observation = replace(observation, state=before.state if before else "flat")
        settled.append(observation)
    return settled


def _compared(observation: Observation) -> str:
    """Validation against training: worse is overfitting, better is suspicious."""
    worse = {"worse": True, "bad": True, "better": False, "good": False}.get(observation.state)
    if observation.against == "other":
        return "silent_defect" if worse else ""
    if worse is None or observation.against == observation.sides[0]:
        return ""
    return "overfitting" if worse == (observation.sides[0] == "val") else "silent_defect"


def _between(train: Sequence[Observation], val: Sequence[Observation]) -> str:
    """The symptoms that training and validation show together."""
    trains, vals = {observation.state for observation in train}, {observation.state for observation in val}
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
    ours = [observation for observation in train if observation.values and "val" not in observation.sides]
    theirs = [observation for observation in val if observation.values and "train" not in observation.sides]
    if not ours or not theirs:
        return ""
    train_value, val_value = ours[-1].values[-1], theirs[-1].values[-1]
    if "loss" in (ours[-1].quantity, theirs[-1].quantity):
        return "overfitting" if val_value > _LOSS_GAP * train_value else ""
    return "overfitting" if train_value - val_value > _SIMILAR * abs(train_value) else ""


def _turned(observed: Sequence[Observation]) -> str:
    """A rise between two falls of one quantity: a spike, or on validation a second descent."""
    if {"loss", "score"} <= {observation.quantity for observation in observed}:
        return ""
    states = [
        observation.state for observation in observed if observation.state in ("better", "worse", "spiking")
    ]
    rose = next((n for n, state in enumerate(states) if state != "better"), None)
    if rose is None or "better" not in states[rose:]:
        return ""
    if states[rose] == "spiking":
        return "loss_spike"
    second = any("val" in observation.sides or observation.quantity == "score" for observation in observed)
    return "double_descent" if second else "loss_spike"


def _alone(observation: Observation, observed: Sequence[Observation]) -> str:
    if observation.state in ("flat", "stalled", "not learning"):
        return _standing(observed)
    validation = observation.sides == ("val",)
    return (ON_VALIDATION if validation else ALONE).get(observation.state, "")


def _standing(observed: Sequence[Observation]) -> str:
    """Flat from the start, or after a fall: what is said of it anywhere counts."""
    standing = [
        observation for observation in observed if observation.state in ("flat", "stalled", "not learning")
    ]
    values = [(value, observation.quantity) for observation in standing for value in observation.values]
    stalled = any(observation.state == "stalled" for observation in standing)
    if any(observation.when == "start" for observation in standing):
        return "not_learning"
    if not stalled and any(_at_chance(*value) for value in values):
        return "not_learning"
    fell = any(observation.state in ("better", "barely falling") for observation in observed)
    stopped = stalled or any(observation.when == "later" for observation in standing)
    return "plateau" if fell or stopped or values else "not_learning"


def _left_and_back(observed: Sequence[Observation]) -> bool:
    """`it was 0.3, then 15, then 0.3 again`."""
    values = [
        value
        for observation in observed
        if observation.quantity in ("loss", "")
        for value in observation.values
    ]
    return len(values) == 3 and values[1] > _SPIKE * max(values[0], values[2]) > 0


def _at_chance_exactly(values: Sequence[float]) -> bool:
    """`loss 1.386`: the loss of a guess among four, with too many digits to be an accident."""
    return any(abs(value - math.log(classes)) < _EXACT for value in values for classes in _CLASSES)


def _at_chance(value: float, quantity: str) -> bool:
    if quantity == "score":
        share = value / 100 if value > 1 else value
        return share <= 0 or any(abs(share - 1 / classes) < 0.02 / classes for classes in _CLASSES)
    return any(abs(value - math.log(classes)) < 0.01 for classes in _CLASSES)
