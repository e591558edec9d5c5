"""The recording on disk: lines appended by one process, read by others while it grows.

`docs/recording.md` tells the format. Nothing here raises: a training must not stop because a disk is
full or a folder is gone. What could not be written is counted and told in the next line that could.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import time
from pathlib import Path

VERSION = 2
_LOOK_EVERY = 2.0


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
        self._looked = 0.0
        self._torn = False

    def begin(self) -> bool:
        """Make the file with its first line: a process killed before its first step leaves that."""
        return self.append(b"")

    def append(self, lines: bytes) -> bool:
        """Write whole lines; False when they could not be kept."""
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
            written = os.write(self._file, body)
        except OSError as error:
            self.error = _reason(error)
            return self._drop(lines)
        self.size += written
        self._torn = written < len(body)
        if self._torn:
            self.error = "the disk is full"
            return self._drop(lines)
        return True

    def facts(self, document: dict[str, object]) -> bool:
        """Replace `run.json` in one move: a reader sees the old one or the new one."""
        scratch = ""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle, scratch = tempfile.mkstemp(prefix=".run-", dir=self.folder)
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                json.dump(document, file, indent=1, default=str)
                file.write("\n")
            os.chmod(scratch, 0o644)
            os.replace(scratch, self.folder / "run.json")
        except OSError as error:
            self.error = _reason(error)
            with contextlib.suppress(OSError):
                os.unlink(scratch)
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
            return _identity(os.fstat(self._file)) == self._identity
        except OSError:
            return False

    def _open(self) -> bool:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = off_standard(os.open(self.path, flags, 0o644))
            self._identity = _identity(os.fstat(self._file))
            head = {"recording": VERSION, "started": self.started, "rank": self.rank, "pid": os.getpid()}
            written = os.write(self._file, (json.dumps(head) + "\n").encode())
        except OSError as error:
            self.error = _reason(error)
            self.close()
            return False
        self.size = written
        self.opened += 1
        self._looked = time.monotonic()
        return True

    def _look(self) -> None:
        """Open anew when somebody deleted or replaced the file: writing to a ghost keeps nothing."""
        now = time.monotonic()
        if now - self._looked < _LOOK_EVERY:
            return
        self._looked = now
        try:
            gone = _identity(os.stat(self.path)) != self._identity
        except OSError:
            gone = True
        if gone:
            self.close()
            if self._open():
                lost = {"t": round(time.time() - self.started, 3), "event": "recording_lost"}
                text = "the recording was deleted while the training ran; what came before is gone"
                os.write(self._file, (json.dumps(lost | {"text": text}) + "\n").encode())

    def _drop(self, lines: bytes) -> bool:
        self.dropped += lines.count(b"\n")
        return False


def off_standard(descriptor: int) -> int:
    """The same file under a number above 2: where a program was started with a standard stream closed,
    what is written to that stream must not end up in a file of ours."""
    low = []
    while descriptor <= 2:
        low.append(descriptor)
        descriptor = os.dup(descriptor)
    for each in low:
        os.close(each)
    return descriptor


def _identity(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


def _reason(error: OSError) -> str:
    return (error.strerror or type(error).__name__).lower()
