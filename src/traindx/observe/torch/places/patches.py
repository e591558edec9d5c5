"""Functions of torch replaced by ones that also report, and put back."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from traindx.observe.hooks.bus import Channel

Function = Callable[..., Any]


class Patches:
    """What one source has replaced, so that it can be put back: for good, or for a moment."""

    def __init__(self) -> None:
        self._done: list[tuple[Any, str, Function, Function]] = []
        self.removals: list[Callable[[], object]] = []

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
        for remove in self.removals:
            remove()
        for owner, name, original, new in reversed(self._done):
            # Somebody may have wrapped ours since: then it stays, and only passes calls on.
            if getattr(owner, name, None) is new:
                setattr(owner, name, original)
        self.removals.clear()
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


def before(event: Channel) -> Callable[[Function], Function]:
    """Listeners get the arguments, before the function does."""

    def replaced(original: Function) -> Function:
        def function(*args: Any, **kwargs: Any) -> Any:
            for call in event.calls:
                call(*args, **kwargs)
            return original(*args, **kwargs)

        return function

    return replaced


def after(event: Channel) -> Callable[[Function], Function]:
    """Listeners get the result and the arguments."""

    def replaced(original: Function) -> Function:
        def function(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            for call in event.calls:
                call(result, *args, **kwargs)
            return result

        return function

    return replaced


def span(event: Channel) -> Callable[[Function], Function]:
    """Listeners get the arguments; what they return is called at the end with whether it came to one."""

    def replaced(original: Function) -> Function:
        def function(*args: Any, **kwargs: Any) -> Any:
            ends = [end for begin in event.calls if (end := begin(*args, **kwargs)) is not None]
            done = False
            try:
                result = original(*args, **kwargs)
                done = True
                return result
            finally:
                for end in reversed(ends):
                    end(done)

        return function

    return replaced


def instead(event: Channel) -> Callable[[Function], Function]:
    """Listeners are called in place of the function, and get it as their first argument."""

    def replaced(original: Function) -> Function:
        def function(*args: Any, **kwargs: Any) -> Any:
            run = original
            for call in reversed(event.calls):
                run = functools.partial(call, run)
            return run(*args, **kwargs)

        return function

    return replaced
