"""What a script prints, kept short: redrawn bars once, endless output only in part."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from traindx.observe.signals import let_through

_WHOLE = 2 << 20
_MOST = 4 << 20
_END = 200
# From there on a stream of errors is heard once in so many seconds: its end may say why the training died.
_APART = 1.0


@dataclass
class PrintedChunk:
    """What the script printed during one step."""

    stream: str
    step: int
    t: float
    parts: list[str]


class PrintedOutput:
    """How much of the output was kept so far, and how much was not."""

    def __init__(self) -> None:
        self.cut = 0
        self._size = 0
        self._latest: PrintedChunk | None = None
        self._kept_at = 0.0

    def passes(self, stream: str, text: str) -> bool:
        """Whether so much was kept of this stream that nothing more is."""
        full = self._size >= _MOST and stream != "err"
        self.cut += full * len(text)
        return full

    def text_of(self, chunk: PrintedChunk) -> str:
        """What to keep of a chunk; empty when nothing."""
        text = _last_redraws("".join(chunk.parts))
        if self._size > _WHOLE:
            short = text[-_END:]
            self.cut += len(text) - len(short)
            text = short
        if self._size >= _MOST and chunk.t - self._kept_at < _APART:
            self.cut += len("".join(self._latest.parts)) if self._latest is not None else 0
            self._latest = PrintedChunk(chunk.stream, chunk.step, chunk.t, [text])
            return ""
        self._kept_at, self._latest = chunk.t, None
        self._size += len(text)
        return text

    def last(self) -> PrintedChunk | None:
        """What was printed last and not kept, if nothing was kept since."""
        latest, self._latest = self._latest, None
        self._kept_at = -_APART
        return latest


def _last_redraws(text: str) -> str:
    """Keep a progress bar that was redrawn many times within a chunk only once."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return "\n".join("\r" + line.rpartition("\r")[2] if "\r" in line else line for line in text.split("\n"))


Note = Callable[[str, str], None]
_MISSING = object()


class Overheard:
    """Standard output and error while they are listened to."""

    def __init__(self, note: Note) -> None:
        self._note: Note | None = note
        self._streams: list[tuple[Any, object, object]] = []

    def listen(self) -> None:
        for name, stream in (("out", sys.stdout), ("err", sys.stderr)):
            if stream is not None and not any(
                stream is listened_stream for listened_stream, _, _ in self._streams
            ):
                with contextlib.suppress(Exception):
                    self._listen_to(stream, name)

    def _listen_to(self, stream: Any, name: str) -> None:
        previous_write = vars(stream).get("write", _MISSING)
        write = stream.write

        def observed(text: str, /) -> int:
            count: int = write(text)
            note = self._note
            if note is not None:
                try:
                    note(name, text)
                except Exception as error:
                    let_through(error)
                    self._note = None
            return count

        stream.write = observed
        self._streams.append((stream, observed, previous_write))

    def stop(self) -> None:
        """The streams as they were; where somebody has put their own `write` over ours, it stays."""
        self._note = None
        for stream, observed, previous_write in self._streams:
            with contextlib.suppress(Exception):
                if vars(stream).get("write") is observed:
                    if previous_write is _MISSING:
                        del stream.write
                    else:
                        stream.write = previous_write
        self._streams.clear()
