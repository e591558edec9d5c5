"""What a script prints, kept short: redrawn bars once, endless output only in part."""

from __future__ import annotations

from dataclasses import dataclass

_WHOLE = 2 << 20
_MOST = 4 << 20
_END = 200
# From there on a stream of errors is heard once in so many seconds: its end may say why the training died.
_APART = 1.0


@dataclass
class PrintedChunk:
    """What the script printed while it stood at one step."""

    stream: str
    step: int
    t: float
    parts: list[str]


class PrintedOutput:
    """How much of the output was kept so far, and how much was not."""

    def __init__(self) -> None:
        self.cut = 0
        self._kept = 0
        self._held: PrintedChunk | None = None
        self._heard = 0.0

    def passes(self, stream: str, text: str) -> bool:
        """Whether so much was kept of this stream that nothing more is."""
        full = self._kept >= _MOST and stream != "err"
        self.cut += full * len(text)
        return full

    def text_of(self, chunk: PrintedChunk) -> str:
        """What to keep of a chunk; empty when nothing."""
        text = _last_redraws("".join(chunk.parts))
        if self._kept > _WHOLE:
            short = text[-_END:]
            self.cut += len(text) - len(short)
            text = short
        if self._kept >= _MOST and chunk.t - self._heard < _APART:
            self.cut += len("".join(self._held.parts)) if self._held is not None else 0
            self._held = PrintedChunk(chunk.stream, chunk.step, chunk.t, [text])
            return ""
        self._heard, self._held = chunk.t, None
        self._kept += len(text)
        return text

    def last(self) -> PrintedChunk | None:
        """What was printed last and not kept, if nothing was kept since."""
        held, self._held = self._held, None
        self._heard = -_APART
        return held


def _last_redraws(text: str) -> str:
    """A progress bar drawn a hundred times within a chunk: once will do."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return "\n".join("\r" + line.rpartition("\r")[2] if "\r" in line else line for line in text.split("\n"))
