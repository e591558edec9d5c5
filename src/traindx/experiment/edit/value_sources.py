"""Everything that values of a script were made of."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from traindx.source.execution import Trace
from traindx.source.values import Value, parents

_MOST = 20_000


def behind(roots: Iterable[Value]) -> Iterator[Value]:
    """The values and all they were made of, each once."""
    waiting, seen = list(roots), set[int]()
    while waiting and len(seen) < _MOST:
        value = waiting.pop()
        if id(value) not in seen:
            seen.add(id(value))
            yield value
            waiting += parents(value)


def anything(trace: Trace) -> list[Value]:
    """Every value that the script makes or binds."""
    return [*(event.value for event in trace.events), *(bound.value for bound in trace.bindings)]
