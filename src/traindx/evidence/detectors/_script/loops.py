"""Which loop goes over epochs and which over batches."""

from __future__ import annotations

import re

from traindx.source.execution import CallEvent, Loop
from traindx.source.training import Iteration, Training
from traindx.source.values import Instance, ListValue, Made, Unknown, Value, number, options

_PASSED_ON = frozenset("enumerate zip tqdm islice track iter reversed progress_bar".split())
_NAMES = re.compile(r"load(er)?s?$|(^|_)dl$|batch(es)?$|dataloader|(^|_)iter(ator)?$")


def inner(value: Value | None) -> Value | None:
    """What a loop goes over, without counters and progress bars."""
    for _ in range(6):
        if not isinstance(value, Made) or value.kind != "call" or value.short not in _PASSED_ON:
            break
        value = value.args[0] if value.args else None
    return value


def over_batches(loop: Loop) -> bool:
    """Whether a loop surely goes over the batches of a data set."""
    return any(_gives_batches(value) for value in options(inner(loop.over)))


def _gives_batches(value: Value) -> bool:
    if isinstance(value, Made) and value.kind == "call":
        strided = value.name == "range" and len(value.args) == 3
        return strided or value.short.endswith("Loader") or value.short in ("batches", "BatchSampler")
    if isinstance(value, Made) and value.kind == "method":
        return value.name in ("split", "chunk", "iter_batches")
    if isinstance(value, ListValue) and value.kind == "comprehension" and value.spot is not None:
        return bool(re.search(r"batch|loader", getattr(value.spot.node, "name", "")))
    if isinstance(value, Instance):
        return bool(re.search(r"load(er)?$|batch", value.cls.node.name.lower()))
    name = value.name if isinstance(value, Unknown | Made) else ""
    return bool(_NAMES.search(name.lower()))


def turns(loop: Loop) -> Value | None:
    """The end of a `range(n)` or `range(1, n + 1)` that a loop counts to."""
    value = inner(loop.over)
    if not isinstance(value, Made) or value.kind != "call" or value.short not in ("range", "trange"):
        return None
    if len(value.args) == 1:
        return value.args[0]
    return value.args[1] if len(value.args) == 2 else None


def epochs(iteration: Iteration) -> Loop | None:
    """The loop around the one over batches, where both are what they seem."""
    around = iteration.step.event.loops
    at = around.index(iteration.loop)
    if at == 0 or not over_batches(iteration.loop) or over_batches(around[at - 1]):
        return None
    return around[at - 1]


def per_batch(event: CallEvent, iteration: Iteration) -> bool:
    """Whether a call is made with every step of an iteration."""
    step = iteration.step.event
    return event.loops == step.loops and event.arms == step.arms[: len(event.arms)]


def epoch_count(loop: Loop) -> float | None:
    """How many turns a loop takes, where it is a plain number."""
    end = turns(loop)
    return number(end)


def same_number(first: Value | None, second: Value | None) -> bool:
    """Whether two values are surely the same number."""
    if first is None or second is None:
        return False
    left, right = number(first), number(second)
    return first is second or (left is not None and left == right)


def certain_iterations(training: Training) -> list[Iteration]:
    """Those whose steps the script makes itself, once for each place."""
    iterations: dict[int, Iteration] = {}
    for iteration in training.iterations:
        if not iteration.step.event.handed:
            iterations.setdefault(id(iteration.step.event.spot.node), iteration)
    return list(iterations.values())
