"""The listeners of each event and their order; a framework decides where its events come from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

Call = Callable[..., Any]

# Who comes first at an event.
CHANGE, RECORD, RESTORE = range(3)


class Channel:
    """The listeners of one event of a source, which calls each of `calls`.

    `refresh` is called when they change.
    """

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
    """The events of this process. A source fills one or more; two frameworks may fill the same one."""

    def __init__(self) -> None:
        self._sources: list[tuple[tuple[str, ...], _Source]] = []
        self._listeners: dict[str, list[tuple[int, Call]]] = {}

    def fill(self, names: Sequence[str], install: Callable[..., Callable[[], None]]) -> None:
        """`install(*channels)` begins to fill these events, and returns what ends it."""
        self._sources.append((tuple(names), _Source(install)))
        self._update(names[0])

    @property
    def names(self) -> set[str]:
        """The events that are filled by now."""
        return {name for names, _ in self._sources for name in names}

    def listen(self, name: str, call: Call, order: int = RECORD) -> Callable[[], None]:
        """Call this at the event, after those of a lower order; what is returned ends it."""
        entry = (order, call)
        listeners = self._listeners.setdefault(name, [])
        listeners.append(entry)
        listeners.sort(key=lambda listener: listener[0])
        try:
            self._update(name)
        except BaseException:
            listeners.remove(entry)
            raise

        def stop() -> None:
            if entry in listeners:
                listeners.remove(entry)
                self._update(name)

        return stop

    def _update(self, name: str) -> None:
        if name not in self.names:
            raise LookupError(f"no framework fills the event {name!r}")
        for names, source in self._sources:
            if name in names:
                source.update([tuple(call for _, call in self._listeners.get(event, ())) for event in names])


BUS = Bus()
