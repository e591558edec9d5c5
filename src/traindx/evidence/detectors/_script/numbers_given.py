"""Numbers that a script gives to its optimizers and layers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from traindx.core.nouns import Finding, Severity, Skipped
from traindx.evidence.case import Case
from traindx.evidence.detectors._script.words import Looked, training_of, where
from traindx.source.anchors_of_loop import optimizers, origin
from traindx.source.edit_pieces import place
from traindx.source.training import Training
from traindx.source.values import Spot, Value, number, options

NO_OPTIMIZER = Skipped("an optimizer whose settings the script shows")


@dataclass(frozen=True)
class Given:
    """A number given to an optimizer: what it is, where it stands, and the class in lower case."""

    value: float
    spot: Spot
    kind: str


def given(training: Training, place_: int, *names: str) -> list[Given]:
    """The numbers that the script's optimizers of known kinds get under a name."""
    found: list[Given] = []
    for made in optimizers(training):
        kind = made.short.lower()
        if made.kind == "call" and any(word in kind for word in ("sgd", "adam", "rmsprop")):
            found += _numbers(made.argument(place_, *names), kind)
    return found


def drop_shares(training: Training) -> list[Given]:
    """The shares of all dropout layers."""
    layers = [e.value for e in training.trace.events if e.value.name.startswith("torch.nn.Dropout")]
    return [one for layer in layers for one in _numbers(layer.argument(0, "p"), "dropout")]


def _numbers(value: Value | None, kind: str) -> Iterator[Given]:
    for way in options(value):
        told, spot = number(way), origin(way)
        if told is not None and spot is not None:
            yield Given(told, spot, kind)


def clips(training: Training) -> bool:
    """Whether the script clips gradients: then a step is bounded whatever they are."""
    return any(e.value.short.startswith("clip_grad") for e in training.trace.events)


def looked(
    case: Case,
    numbers: Callable[[Training], list[Given]],
    out: Callable[[Training, Given], str],
    symptom: str | None = None,
    severity: Severity = "low",
) -> Looked:
    """A finding for each number that `out` has something to say about."""
    training = training_of(case)
    if training is None:
        return Skipped("a script that can be followed")
    known = numbers(training)
    if not known:
        return NO_OPTIMIZER
    found: dict[int, Finding] = {}
    for one in known:
        why = out(training, one)
        if why:
            text = f"{where(one.spot)}: {why}."
            places = (place(one.spot),)
            found.setdefault(id(one.spot.node), Finding(text, symptom, severity, places=places))
    return [*found.values()]


def is_plain(made: Given) -> bool:
    return "sgd" in made.kind
