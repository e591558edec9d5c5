"""Tracebacks: which exception it was, and which of its frames are the user's own code."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

FRAMES_MOST = 12
MESSAGE_LONGEST = 2000
# torchrun's SignalException: somebody ended the program from outside.
NO_CRASH = frozenset({"KeyboardInterrupt", "SystemExit", "GeneratorExit", "SignalException"})
TITLE = "Traceback (most recent call last)"
_FRAME = re.compile(r'File "([^"\n]+)", line (\d+)(?:, in ([^\n]*))?')
_LIBRARY = re.compile(
    r"[\\/](?:site-packages|dist-packages)[\\/]|[\\/]lib(?:64)?[\\/]python\d|[\\/]Lib[\\/][a-z_]+\.py|^<"
    r"|[\\/]traindx[\\/](?:observe|experiment|cli)[\\/]"
)
# `torch.OutOfMemoryError: CUDA out of memory` or a bare `AssertionError`.
_LAST = re.compile(r"([A-Za-z_][\w.]*?)(?::\s*(.*))?$")
_CHAINED = ("During handling of the above exception", "The above exception was the direct cause")


@dataclass(frozen=True)
class CodeLine:
    """One line of a traceback."""

    file: str
    line: int
    function: str = ""


@dataclass(frozen=True)
class Traceback:
    """An exception with the frames of the user's own code, outermost first.

    `message` is its text and that of the exceptions that led to it.
    """

    kind: str
    message: str
    frames: tuple[CodeLine, ...] = ()

    @property
    def line(self) -> str:
        """As Python ends a traceback: the kind, and the first line of the message."""
        first = next((part.strip() for part in self.message.splitlines() if part.strip()), "")
        return f"{self.kind}: {first}" if first else self.kind

    def data(self) -> dict[str, object]:
        """For a recording."""
        frames = [[frame.file, frame.line, frame.function] for frame in self.frames]
        return {"type": self.kind, "message": self.message, "frames": frames}


def from_data(data: Mapping[str, object], text: str) -> Traceback:
    """What `Traceback.data` gave; of an event without it, what its text tells."""
    kind, message = data.get("type"), data.get("message")
    if not isinstance(kind, str) or not isinstance(message, str):
        last = _LAST.match(text.strip())
        kind, message = (last[1], last[2] or "") if last else ("", text)
    frames = data.get("frames")
    read = [_frame(frame) for frame in frames] if isinstance(frames, Sequence) else []
    return Traceback(kind.rpartition(".")[2], message, tuple(frame for frame in read if frame is not None))


def _frame(entry: object) -> CodeLine | None:
    match entry:
        case [str(file), int(line), str(function)]:
            return CodeLine(file, line, function)
    return None


def own_frames(frames: Iterable[CodeLine]) -> tuple[CodeLine, ...]:
    """Those that are in no library, the deepest of many."""
    return tuple(frame for frame in frames if not _LIBRARY.search(frame.file))[-FRAMES_MOST:]


def frames_in(text: str) -> list[CodeLine]:
    """The frames that a printed traceback names."""
    return [CodeLine(file, int(line), (name or "").strip()) for file, line, name in _FRAME.findall(text)]


def parsed(lines: Sequence[str]) -> tuple[Traceback | None, int]:
    """The traceback whose title is the first of these lines, with those it leads to, and its number of lines.

    None where it is cut off. What stands before the title (a rank, a date) stands before all of its lines.
    """
    before = lines[0].partition(TITLE)[0] if lines else ""
    body = [line[len(before) :] if line.startswith(before) else line for line in lines]
    whole: Traceback | None = None
    frames: list[CodeLine] = []
    at = 1
    while at < len(body):
        line = body[at]
        if line[:1] in (" ", "\t") or not line.strip():
            frames += frames_in(line)
            at += 1
            continue
        last = _LAST.match(line.strip())
        if last is None:
            break
        end = _message_end(body, at)
        message = "\n".join([last[2] or "", *body[at + 1 : end]]).strip()
        frames += frames_in(message)
        earlier = f"\n{whole.line}" if whole is not None else ""
        kind = last[1].rpartition(".")[2]
        whole = Traceback(kind, (message + earlier)[:MESSAGE_LONGEST], own_frames(frames))
        following = next((n for n in range(end, min(end + 4, len(body))) if TITLE in body[n]), None)
        linked = any(text.startswith(_CHAINED) for text in body[end:following]) if following else False
        if following is None or not linked:
            return whole, end
        frames, at = [], following + 1
    return whole, at


def _message_end(lines: Sequence[str], at: int) -> int:
    """Behind the message that begins at a line: messages of several lines are indented, or quote another."""
    end = at + 1
    quoting = "DataLoader worker process" in lines[at]
    while end < len(lines):
        line = lines[end]
        quoting = quoting or line.startswith("Original Traceback")
        if line[:1] in (" ", "\t") and line.strip():
            end += 1
        elif quoting and line.strip():
            end += 1
            quoting = line.startswith("Original Traceback") or line[:1] in (" ", "\t")
        else:
            break
    return end
