"""What the program prints, kept beside the numbers it belongs to.

The streams stay the objects they were: only their `write` also tells us. What a library in C or another
process writes to the same terminal does not pass here and is not seen.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from typing import Any

from traindx.observe.signals import let_through

Note = Callable[[str, str], None]
_MISSING = object()


class Overheard:
    """Standard output and error while they are listened to."""

    def __init__(self, note: Note) -> None:
        self._note: Note | None = note
        self._before: list[tuple[Any, object, object]] = []

    def listen(self) -> None:
        for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
            if stream is not None and not any(stream is known for known, _, _ in self._before):
                with contextlib.suppress(Exception):
                    self._listen_to(stream, name)

    def _listen_to(self, stream: Any, name: str) -> None:
        before = vars(stream).get("write", _MISSING)
        write = stream.write

        def observed(text: str, /) -> int:
            written: int = write(text)
            note = self._note
            if note is not None:
                try:
                    note(name, text)
                except Exception as error:
                    let_through(error)
                    self._note = None
            return written

        stream.write = observed
        self._before.append((stream, observed, before))

    def stop(self) -> None:
        """The streams as they were; where somebody has put their own `write` over ours, it stays."""
        self._note = None
        for stream, observed, before in self._before:
            with contextlib.suppress(Exception):
                if vars(stream).get("write") is observed:
                    if before is _MISSING:
                        del stream.write
                    else:
                        stream.write = before
        self._before.clear()
