"""Everything that values of a script were computed from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from traindx.source.execution import Trace
from traindx.source.flow import reach
from traindx.source.values import Made, Value, parents

_MOST = 50_000


def behind(roots: Iterable[Value], before: Callable[[Value], Sequence[Value]] = parents) -> Iterator[Value]:
    """The values and all they were computed from, each once; `before` gives the direct inputs of one."""
    waiting, visited = list(roots), set[int]()
    while waiting and len(visited) < _MOST:
        value = waiting.pop()
        if id(value) not in visited:
            visited.add(id(value))
            yield value
            waiting += before(value)


def inputs_of(value: Value) -> list[Value]:
    """What a value was computed from; of the call of a layer, its arguments and not the layer."""
    return [*value.args] if isinstance(value, Made) and value.kind == "apply" else parents(value)


def is_predicted(value: Value) -> bool:
    """Whether layers with parameters are behind a value."""
    reached = reach(value)
    return bool(reached.alive or reached.cut)


def anything(trace: Trace) -> list[Value]:
    """Every value that the script makes or binds."""
    return [*(event.value for event in trace.events), *(bound.value for bound in trace.bindings)]
