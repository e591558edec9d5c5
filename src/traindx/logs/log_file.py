"""Files as readers see them: plain, gzipped or piped in, opened only when needed."""

from __future__ import annotations

import atexit
import io
import os
import shutil
import sys
import tempfile
import zlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import IO

from traindx.core import files
from traindx.core.nouns import Note, Unreadable
from traindx.logs.gzips import gunzip

HEAD_BYTES = 64 * 1024
CHUNK_BYTES = 8 * 1024 * 1024
_UNPACK_LEAST = 16 << 20
_UNPACK_RATIO = 32
_PIPED_MOST = 4 << 30
_GZIP_MAGIC = b"\x1f\x8b"


class File:
    """One input file. `name` and `folder` are those of the plain file, without `.gz`."""

    def __init__(self, path: Path, shown: str | None = None) -> None:
        self.path = path
        self.shown = shown if shown is not None else str(path)
        self.notes: list[Note] = []
        self._unpacked: Path | None = None

    @cached_property
    def name(self) -> str:
        name = Path(self.shown).name
        return name[:-3] if self.gzipped and name.lower().endswith(".gz") else name

    @cached_property
    def folder(self) -> str:
        return str(Path(self.shown).parent)

    @cached_property
    def _first_stat(self) -> os.stat_result:
        return self.path.stat()

    @cached_property
    def size(self) -> int:
        """The size when the file was first opened: what is added later is not read."""
        return self._first_stat.st_size

    @property
    def changed(self) -> bool:
        """Whether it has changed since it was first opened, because a training writes it."""
        try:
            now = self.path.stat()
        except OSError:
            return True
        first = self._first_stat
        return (now.st_size, now.st_mtime_ns) != (first.st_size, first.st_mtime_ns)

    def open(self) -> IO[bytes]:
        return files.opened(self.path)

    @cached_property
    def gzipped(self) -> bool:
        try:
            with self.open() as handle:
                return handle.read(2) == _GZIP_MAGIC
        except OSError as error:
            raise Unreadable(reason(error)) from None

    @cached_property
    def head(self) -> bytes:
        """The first 64 KiB, unpacked."""
        parts: list[bytes] = []
        have = 0
        for chunk in self._pieces(HEAD_BYTES, []):
            parts.append(chunk)
            have += len(chunk)
            if have >= HEAD_BYTES:
                break
        return b"".join(parts)[:HEAD_BYTES]

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:
        """The content piece by piece, up to the size at first; a torn gzip ends where it is torn, and
        one that unpacks to far more than logs do ends early, both with a note."""
        return self._pieces(size, self.notes)

    def _pieces(self, size: int, notes: list[Note]) -> Iterator[bytes]:
        try:
            with self.open() as handle:
                if self.gzipped:
                    yield from self._unpacked_pieces(handle, size, notes)
                    return
                bytes_left = self.size
                while chunk := handle.read(min(size, bytes_left)):
                    bytes_left -= len(chunk)
                    yield chunk
        except OSError as error:
            raise Unreadable(reason(error)) from None

    def _unpacked_pieces(self, handle: IO[bytes], size: int, notes: list[Note]) -> Iterator[bytes]:
        bytes_left = self.unpacked_most
        try:
            for chunk in gunzip(handle, size):
                if len(chunk) > bytes_left:
                    yield chunk[:bytes_left]
                    _add(
                        notes,
                        Note(
                            self.shown,
                            f"it unpacks to more than {_mebibytes(self.unpacked_most)}, far "
                            "more than logs do: the rest was left out; unpack it by hand to read it",
                        ),
                    )
                    return
                bytes_left -= len(chunk)
                yield chunk
        except (EOFError, zlib.error) as error:
            _add(notes, Note(self.shown, f"the gzip stream is damaged ({error}); read up to the damage"))

    @property
    def unpacked_most(self) -> int:
        """How much of a gzipped file is read: packed logs are 3 to 15 times smaller than plain ones."""
        return max(_UNPACK_LEAST, _UNPACK_RATIO * self.size)

    def read(self, limit: int | None = None) -> bytes:
        """The whole content, or its first `limit` bytes."""
        limit_or_all = sys.maxsize if limit is None else limit
        out = io.BytesIO()
        for chunk in self.chunks(min(limit_or_all, CHUNK_BYTES) or 1):
            out.write(chunk[: limit_or_all - out.tell()])
            if out.tell() >= limit_or_all:
                break
        return out.getvalue()

    def local_path(self) -> Path:
        """A path on disk that holds the unpacked content (for SQLite)."""
        if not self.gzipped:
            return self.path
        if self._unpacked is not None:
            return self._unpacked
        target = _scratch() / f"{abs(hash(self.shown)):x}-{self.name}"
        with open(target, "wb") as out:
            for chunk in self.chunks():
                out.write(chunk)
            if out.tell() >= self.unpacked_most:
                raise Unreadable(
                    f"it unpacks to more than {_mebibytes(self.unpacked_most)}; unpack it by hand to read it"
                )
        self._unpacked = target
        return target

    def note(self, text: str) -> None:
        _add(self.notes, Note(self.shown, text))

    def forget(self) -> None:
        """Free the memory of what was read."""
        self.__dict__.pop("head", None)

    def __repr__(self) -> str:
        return f"File({self.shown!r})"


class MemoryFile(File):
    """Content that is in memory already. It is one chunk, so that offsets into it stay valid."""

    def __init__(self, content: bytes, shown: str) -> None:
        super().__init__(Path(shown), shown)
        self._content = content

    @cached_property
    def size(self) -> int:
        return len(self._content)

    def open(self) -> IO[bytes]:
        return io.BytesIO(self._content)

    def chunks(self, size: int = CHUNK_BYTES) -> Iterator[bytes]:  # noqa: ARG002
        yield self._content


def stdin_file() -> File:
    """Standard input, spooled to disk so that it can be read twice."""
    if sys.stdin is None:
        raise Unreadable("standard input is closed")
    return _spooled(sys.stdin.buffer, "-")


def pipe_file(path: Path) -> File:
    """A named pipe or a shell's `<(...)`, spooled like standard input."""
    with open(path, "rb") as pipe:
        return _spooled(pipe, str(path))


def _spooled(stream: IO[bytes], shown: str) -> File:
    target = _scratch() / f"piped-{len(os.listdir(_scratch()))}"
    file, bytes_left = File(target, shown), _PIPED_MOST
    with open(target, "wb") as out:
        while bytes_left and (chunk := stream.read(min(bytes_left, CHUNK_BYTES))):
            bytes_left -= out.write(chunk)
    if not bytes_left:
        file.note(f"more than {_mebibytes(_PIPED_MOST)} came through the pipe: the rest was left out")
    return file


def reason(error: OSError) -> str:
    """One line for the user from an operating-system error."""
    if isinstance(error, PermissionError):
        return "no permission to read it"
    if isinstance(error, FileNotFoundError):
        return "it does not exist"
    return (error.strerror or str(error) or type(error).__name__).lower()


def _add(notes: list[Note], note: Note) -> None:
    """Add a note once, however often the file is read."""
    if note not in notes:
        notes.append(note)


def _mebibytes(size: int) -> str:
    return f"{size >> 20:,} MiB"


_SCRATCH: list[Path] = []


def _scratch() -> Path:
    if not _SCRATCH:
        _SCRATCH.append(Path(tempfile.mkdtemp(prefix="traindx-")))
        atexit.register(shutil.rmtree, _SCRATCH[0], ignore_errors=True)
    return _SCRATCH[0]


def natural(text: str) -> list[tuple[int, int, str]]:
    """Sort key that puts `checkpoint-9` before `checkpoint-10`."""
    key: list[tuple[int, int, str]] = []
    digits = ""
    for char in os.fspath(text) + "\0":
        if char in "0123456789":
            digits += char
            continue
        if digits:
            key.append((0, int(digits), ""))
            digits = ""
        key.append((1, 0, char))
    return key
