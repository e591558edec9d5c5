"""Reading named files without waiting forever or reading without end.

A name may lead to a pipe that nobody writes to, an endless device, a socket or a folder: these are refused
before they are opened. A regular file is read up to the size it had when it was opened.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import IO

LIMIT = 64 << 20
Name = str | os.PathLike[str]

_FLAGS = os.O_RDONLY
for _flag in ("O_NONBLOCK", "O_CLOEXEC", "O_NOCTTY", "O_BINARY"):  # not every system has all of them
    _FLAGS |= getattr(os, _flag, 0)
_KINDS = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"), (stat.S_ISDIR, "a folder"))


def opened(path: Name) -> IO[bytes]:
    """A regular file, open for reading; raises OSError for any other, with a phrase that says what it is."""
    try:
        # Checked before opening: a program that waits for a reader of its pipe must keep waiting.
        refuse_others(os.stat(path), path)
        handle = os.open(path, _FLAGS)
    except ValueError:
        raise OSError(errno.EINVAL, "no file can have this name", os.fspath(path)) from None
    try:
        refuse_others(os.fstat(handle), path)
        return os.fdopen(handle, "rb")
    except BaseException:
        os.close(handle)
        raise


def read(path: Name, most: int = LIMIT) -> bytes:
    """The whole of a file; raises OSError when it holds more than `most` bytes."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        if size > most:
            raise OSError(errno.EFBIG, f"it is larger than {most:,} bytes", os.fspath(path))
        return file.read(size)


def head(path: Name, most: int) -> bytes:
    """The first `most` bytes of a file."""
    with opened(path) as file:
        return file.read(most)


def tail(path: Name, most: int) -> bytes:
    """The last `most` bytes of a file."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(0, size - most))
        return file.read(most)


def refuse_others(facts: os.stat_result, path: Name) -> None:
    """Raise OSError for what is no regular file."""
    if not stat.S_ISREG(facts.st_mode):
        kind = next((name for test, name in _KINDS if test(facts.st_mode)), "a device")
        raise OSError(errno.EINVAL, f"it is {kind}, not a file", os.fspath(path))
