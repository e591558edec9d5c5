"""What a script prints, kept short: redrawn bars once, endless output only in part."""

from __future__ import annotations

from dataclasses import dataclass

_WHOLE = 2 << 20
_MOST = 4 << 20
_END = 200


@dataclass
class Chunk:
    """What the script printed while it stood at one step."""

    stream: str
    step: int
    t: float
    parts: list[str]


class Printed:
    """How much of the output was kept so far, and how much was not."""

    def __init__(self) -> None:
        self.cut = 0
        self._kept = 0

    def text_of(self, chunk: Chunk) -> str:
        """What to keep of a chunk; empty when nothing."""
        text = _last_redraws("".join(chunk.parts))
        if self._kept > _WHOLE:
            short = text[-_END:] if self._kept < _MOST or chunk.stream == "err" else ""
            self.cut += len(text) - len(short)
            text = short
        self._kept += len(text)
        return text


def _last_redraws(text: str) -> str:
    """A progress bar drawn a hundred times within a chunk: once will do."""
    if "\r" not in text:
        return text
    text = text.replace("\r\n", "\n")
    return "\n".join("\r" + line.rpartition("\r")[2] if "\r" in line else line for line in text.split("\n"))
