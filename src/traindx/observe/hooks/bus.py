"""Who listens to which event, in which order; where an event comes from is up to a framework."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Call = Callable[..., Any]

# Who comes first at an event.
CHANGE, RECORD, RESTORE = range(3)


class Channel:
    """One event of a source: the source calls each of `calls`. `refresh` is called when they change."""

    __slots__ = ("calls", "refresh")

    def __init__(self) -> None:
        self.calls: tuple[Call, ...] = ()
        self.refresh: Callable[[], None] | None = None


class _Source:
    """Fills some events while somebody listens to one of them."""

    def __init__(self, install: Callable[..., Callable[[], None]]) -> None:
        self._install = install
        self._events: list[Channel] = []
        self._undo: Callable[[], None] | None = None

    def update(self, listeners: Sequence[tuple[Call, ...]]) -> None:
        if self._undo is None and any(listeners):
            # New ones each time: whoever has kept a function of ours since must not be heard twice.
            self._events = [Channel() for _ in listeners]
            self._set(listeners)
            self._undo = self._install(*self._events)
        elif self._undo is not None:
            self._set(listeners)
            if not any(listeners):
                self._undo()
                self._undo = None

    def _set(self, listeners: Sequence[tuple[Call, ...]]) -> None:
        for event, calls in zip(self._events, listeners, strict=True):
            changed, event.calls = event.calls != calls, calls
            if changed and event.refresh is not None:
                event.refresh()


class Bus:
    """The events of this process. A source stands for one or more of them."""

    def __init__(self) -> None:
        self._sources: dict[str, tuple[tuple[str, ...], _Source]] = {}
        self._listeners: dict[str, list[tuple[int, Call]]] = {}

    def fill(self, names: Sequence[str], install: Callable[..., Callable[[], None]]) -> None:
        """`install(*events)` begins to fill these events, and returns what ends it."""
        for name in names:
            self._sources[name] = (
                tuple(names),
                _Source(install) if name == names[0] else self._sources[names[0]][1],
            )

    def filled(self, name: str) -> bool:
        return name in self._sources

    def listen(self, name: str, call: Call, order: int = RECORD) -> Callable[[], None]:
        """Call this at the event, after those of a lower order; what is returned ends it."""
        entry = (order, call)
        known = self._listeners.setdefault(name, [])
        known.append(entry)
        known.sort(key=lambda one: one[0])
        try:
            self._update(name)
        except BaseException:
            known.remove(entry)
            raise

        def stop() -> None:
            if entry in known:
                known.remove(entry)
                self._update(name)

        return stop

    def _update(self, name: str) -> None:
        names, source = self._sources[name]
        source.update([tuple(call for _, call in self._listeners.get(one, ())) for one in names])


BUS = Bus()
