"""Signals that arrive while our code runs: an exception of the program's handler belongs to the program."""

from __future__ import annotations

import contextlib
import signal
from collections.abc import Iterator


def raised_by_handler(error: BaseException) -> bool:
    """Whether a signal handler of the program raised it, in the middle of what we did.

    A handler is known by its argument: the frame that it interrupts.
    """
    outer = error.__traceback__
    while outer is not None and outer.tb_next is not None:
        for value in outer.tb_next.tb_frame.f_locals.values():
            # By identity: to compare with an array that stands next to it would raise.
            if any(item is outer.tb_frame for item in (value if type(value) is tuple else (value,))):
                return True
        outer = outer.tb_next
    return False


def let_through(error: BaseException) -> None:
    """Reraise an exception that the program's handler raised."""
    if raised_by_handler(error):
        raise error


@contextlib.contextmanager
def keys_held() -> Iterator[None]:
    """Ignore a second Ctrl-C for the few milliseconds that closing the recording takes."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    with contextlib.suppress(KeyboardInterrupt):
        previous_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            yield
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, previous_mask)
