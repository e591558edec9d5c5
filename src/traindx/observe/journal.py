"""The recording on disk: lines appended by one process, read by others while it grows.

`docs/recording.md` describes the format. Nothing here raises: a training must not stop because a disk is
full or a folder is gone. What could not be written is counted and reported in the next line that could; room
for the last lines is kept from the beginning.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from pathlib import Path

# Not `time.monotonic`: a program may put another in its place.
from time import monotonic

from traindx.core import files

VERSION = 2
ROOM = ".room"
_CHECK_EVERY = 2.0
# For the last lines, and besides for `run.json` as large as it is.
_LAST_LINES = 1 << 16
_FACTS_OF_THE_END = ("ended", "dropped")


class Journal:
    """The file of one rank: each append is one write, so a killed process tears at most the last line."""

    def __init__(self, folder: Path, rank: int, started: float) -> None:
        self.folder = folder
        self.rank = rank
        self.started = started
        self.path = folder / f"rank-{rank}.jsonl"
        self.dropped = 0
        self.error = ""
        self.size = 0
        self.opened = 0
        self._file = -1
        self._identity = (0, 0)
        self._began = monotonic()
        self._checked_at = 0.0
        self._torn = False
        self._room = 0
        self._ends = False

    def begin(self) -> bool:
        """Make the file with its first line: a process killed before its first step leaves that."""
        is_written = self.append(b"")
        self._keep_room(_LAST_LINES)
        return is_written

    def end(self) -> None:
        """What comes now are the last lines: the room that was kept is theirs."""
        self._ends = True
        if self._room:
            with contextlib.suppress(OSError):
                os.unlink(self.folder / ROOM)

    def _keep_room(self, size: int) -> None:
        """Random bytes: no file system stores them as less than they are."""
        if self._room < size and not self._ends:
            with contextlib.suppress(OSError), open(self.folder / ROOM, "ab") as file:
                file.write(os.urandom(size - self._room))
            self._room = size

    def append(self, lines: bytes) -> bool:
        """Write whole lines; False when they could not be written."""
        if self._file >= 0 and not self._ours():
            self._file = -1
        if self._file < 0 and not self._open():
            return self._drop(lines)
        self._look()
        if self._file < 0:
            return self._drop(lines)
        # A write cut short by a full disk left half a line: end it before the next one.
        body = b"\n" + lines if self._torn else lines
        try:
            byte_count = os.write(self._file, body)
        except OSError as error:
            self.error = _reason(error)
            return self._drop(lines)
        self.size += byte_count
        self._torn = byte_count < len(body)
        if self._torn:
            self.error = "the disk was full"
            return self._drop(body[byte_count:])
        return True

    def facts(self, document: dict[str, object]) -> bool:
        """Replace `run.json` in one move: a reader sees the old one or the new one."""
        scratch, text = "", _document(document)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(prefix=".run-", dir=self.folder)
            with os.fdopen(handle, "wb") as file:
                file.write(text)
            os.chmod(scratch, 0o644)
            os.replace(scratch, self.folder / "run.json")
        except OSError as error:
            self.error = _reason(error)
            with contextlib.suppress(OSError):
                os.unlink(scratch)
            return self._ends and self._end_in_place(document)
        if self._room:
            self._keep_room(_LAST_LINES + len(text))
        return True

    def _end_in_place(self, document: dict[str, object]) -> bool:
        """No room for another `run.json`: how it ended goes into the one there is."""
        path = self.folder / "run.json"
        try:
            facts = json.loads(files.read(path))
            text = _document(facts | {key: document[key] for key in _FACTS_OF_THE_END if key in document})
            with open(path, "r+b") as file:
                if hasattr(os, "posix_fallocate"):
                    os.posix_fallocate(file.fileno(), 0, len(text))
                file.write(text)
                file.truncate()
        except (OSError, ValueError, TypeError):
            return False
        return True

    def close(self) -> None:
        if self._file >= 0 and self._ours():
            with contextlib.suppress(OSError):
                os.close(self._file)
        self._file = -1

    def _ours(self) -> bool:
        """A program that closes all descriptors may get its own file under our number: never touch that."""
        try:
            return identity(os.fstat(self._file)) == self._identity
        except OSError:
            return False

    def _open(self) -> bool:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = off_standard(os.open(self.path, flags, 0o644))
            self._identity = identity(os.fstat(self._file))
            head = {"recording": VERSION, "started": self.started, "rank": self.rank, "pid": os.getpid()}
            byte_count = os.write(self._file, (json.dumps(head) + "\n").encode())
        except OSError as error:
            self.error = _reason(error)
            self.close()
            return False
        self.size = byte_count
        self.opened += 1
        self._checked_at = monotonic()
        return True

    def _look(self) -> None:
        """Reopen the file when it was deleted or replaced: what is written to a deleted file is lost."""
        now = monotonic()
        if now - self._checked_at < _CHECK_EVERY:
            return
        self._checked_at = now
        try:
            is_gone = identity(os.stat(self.path)) != self._identity
        except OSError:
            is_gone = True
        if is_gone:
            self.close()
            if self._open():
                event = {"t": round(monotonic() - self._began, 3), "event": "recording_lost"}
                text = "the recording was deleted while the training ran; what came before is gone"
                os.write(self._file, (json.dumps(event | {"text": text}) + "\n").encode())

    def _drop(self, lines: bytes) -> bool:
        self.dropped += lines.count(b"\n")
        return False


def write_end(folder: Path, outcome: dict[str, object]) -> bool:
    """Record from outside how a training ended that could not record it itself."""
    with contextlib.suppress(OSError):
        os.unlink(folder / ROOM)
    try:
        facts = json.loads(files.read(folder / "run.json"))
        if facts.get("ended") is not None:
            return False
    except (OSError, ValueError, AttributeError):
        return False
    journal = Journal(folder, 0, 0.0)
    journal.end()
    return journal.facts(facts | {"ended": outcome})


def off_standard(descriptor: int) -> int:
    """The same file under a number above 2: where a program was started with a standard stream closed,
    what is written to that stream must not end up in a file of ours."""
    low = []
    while descriptor <= 2:
        low.append(descriptor)
        descriptor = os.dup(descriptor)
    for duplicate in low:
        os.close(duplicate)
    return descriptor


def identity(status: os.stat_result) -> tuple[int, int]:
    """What a file keeps under whatever name or number."""
    return status.st_dev, status.st_ino


def _document(document: dict[str, object]) -> bytes:
    return (json.dumps(document, indent=1, default=str) + "\n").encode()


def _reason(error: OSError) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return "the disk was full"
    return (error.strerror or type(error).__name__).lower()
