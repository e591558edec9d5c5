"""Inputs are shuffled and labels are not, or by another order.

Seen when inputs and targets that go into one dataset (or Keras' `fit`) are indexed by two different
random permutations, or one of them is shuffled in place or by a permutation and the other left as it is.

Silent when both go by one permutation, and when it cannot be told that the two belong together. Known
mistake: labels that are shuffled on purpose, as a control.
"""

from __future__ import annotations

from collections.abc import Iterator

from traindx.case import Case
from traindx.core import Finding, Skipped
from traindx.detectors.script._samples import script
from traindx.detectors.script._words import Looked, code, first, training_of, where
from traindx.script import Script
from traindx.script.mending import place
from traindx.script.trace import Event
from traindx.script.training import Training
from traindx.script.values import Made, Value
from traindx.units import Detector

DETECTOR = Detector(title="inputs and labels shuffled apart", needs=("script",), family="script_shuffle")


def detect(case: Case) -> Finding | Skipped | None:
    return first(case, __name__, look(case))


def look(case: Case) -> Looked:
    """Every place where it is seen."""
    training = training_of(case)
    if training is None:
        return Skipped("a script that can be followed")
    pairs = [e for e in training.trace.events if _is_pair(e)]
    if not pairs:
        return Skipped("a dataset of inputs and targets")
    found: dict[int, Finding] = {}
    for event in pairs:
        seen = _apart(training, event, event.value.args[0], event.value.args[1])
        if seen is not None:
            found.setdefault(id(event.spot.node), seen)
    return [*found.values()]


def _is_pair(event: Event) -> bool:
    made = event.value
    return len(made.args) >= 2 and (
        made.short == "TensorDataset" or (made.kind == "method" and made.name == "fit")
    )


def _order(value: Value) -> Made | None:
    """The permutation that a value was indexed by."""
    for _ in range(20):
        if not isinstance(value, Made):
            return None
        key = value.args[0] if value.kind == "item" and value.args else None
        while isinstance(key, Made) and key.kind == "item" and key.receiver is not None:
            key = key.receiver
        if isinstance(key, Made) and key.kind != "item" and key.short in ("randperm", "permutation"):
            return key
        inner = value.receiver if value.receiver is not None else (value.args[0] if value.args else None)
        if inner is None:
            return None
        value = inner
    return None


def _root(value: Value) -> Value:
    """The data behind conversions."""
    for _ in range(20):
        wrapped = isinstance(value, Made) and value.name in (
            "torch.tensor",
            "torch.from_numpy",
            "torch.as_tensor",
        )
        cast = (
            isinstance(value, Made)
            and value.kind == "method"
            and value.name in ("float", "long", "astype", "to")
        )
        if wrapped and isinstance(value, Made) and value.args:
            value = value.args[0]
        elif cast and isinstance(value, Made) and value.receiver is not None:
            value = value.receiver
        else:
            return value
    return value


def _apart(training: Training, event: Event, x: Value, y: Value) -> Finding | None:
    one, other = _order(x), _order(y)
    if one is not None and other is not None and one is not other:
        return _finding(event, other, "inputs and targets are put in order by two different permutations")
    shuffles = training.trace.named("numpy.random.shuffle", "random.shuffle")
    shuffled = {id(e.value.args[0]): e for e in shuffles if e.value.args and e.at < event.at}
    mine, yours = shuffled.get(id(_root(x))), shuffled.get(id(_root(y)))
    if (mine is None) != (yours is None) and one is None and other is None:
        moved = mine or yours
        assert moved is not None
        told = "inputs" if mine is not None else "targets"
        return _finding(event, moved.value, f"the {told} are shuffled and the others are not")
    return None


def _finding(event: Event, by: Made, why: str) -> Finding:
    spot = by.spot or event.spot
    text = f"{where(spot)}: {code(spot)}: {why} before line {event.spot.line}: labels are lost."
    return Finding(text, "silent_defect", "high", places=(place(spot), place(event.spot)))


def fires() -> Iterator[Script]:
    yield script(setup="X = X[torch.randperm(100)]\ny = y[torch.randperm(100)]\ndata = TensorDataset(X, y)")
    yield script(setup="X = np.load('x.npy')\nnp.random.shuffle(X)\ndata = TensorDataset(torch.tensor(X), y)")


def silent() -> Iterator[Script]:
    yield script(setup="order = torch.randperm(100)\ndata = TensorDataset(X[order], y[order])")
    yield script(setup="data = TensorDataset(X, y)")
    yield script(setup="X = X[torch.randperm(100)]\ny = label(X)\ndata = TensorDataset(X, y)")
