"""Functions of torch replaced by ones that also tell us, and put back."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

Function = Callable[..., Any]


class Patches:
    """What was replaced, so that it can be put back: for good, or for a moment."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Function, Function]] = []

    def replace(self, owner: Any, name: str, make: Callable[[Function], Function]) -> bool:
        """Put `make(original)` in the place of `owner.name`; False where this torch has no such thing."""
        original = getattr(owner, name, None)
        if original is None:
            return False
        new = make(original)
        with contextlib.suppress(AttributeError, TypeError):
            functools.update_wrapper(new, original)
        setattr(owner, name, new)
        self._done.append((owner, name, original, new))
        return True

    def undo(self) -> None:
        for owner, name, original, new in reversed(self._done):
            # Somebody may have wrapped ours since: then it stays, and only passes calls on.
            if getattr(owner, name, None) is new:
                setattr(owner, name, original)
        self._done.clear()

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """The originals back in place, for what reads their source."""
        mine = [entry for entry in self._done if getattr(entry[0], entry[1], None) is entry[3]]
        for owner, name, original, _ in mine:
            setattr(owner, name, original)
        try:
            yield
        finally:
            for owner, name, _, new in mine:
                setattr(owner, name, new)
