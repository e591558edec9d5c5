"""The files of the user as a trial sees them: what it writes is in a copy, everything else is read in place.

Below `root` the copy repeats the paths of the machine: `/home/ann/proj` is `<root>/home/ann/proj`. A folder
is *claimed* once something in it was written: it is a real folder in the copy then, its untouched files and
folders are links to the user's, and whoever names the user's folder is led to the copy. The claims are kept
in a file, so that all processes of a trial know them.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator

from traindx.experiment.sandbox.devices import SHARED_MEMORY, is_own

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

CLAIMS = "claims"
# A folder with more than this is not repeated link by link: what is not in the copy is read in place.
_MOST_LINKS = 5000
_ROUNDS = 40


class Overlay:
    """`folder` is the trial's own, with `root` in it; `free` may be written to, and everything below it."""

    def __init__(self, folder: str, free: tuple[str, ...] = ()) -> None:
        self.folder = os.path.realpath(folder)
        self.root = os.path.join(self.folder, "root")
        self.free = (self.folder, *(os.path.realpath(path) for path in free))
        self._log = os.path.join(self.folder, CLAIMS)
        self._read = 0
        self._claimed: dict[str, bool] = {}
        """By folder: whether it is whole, so that what is not in the copy is gone."""
        self._brought: set[str] = set()
        """Of folders that are not whole: what was brought into the copy, and is gone if it is not there."""

    def user(self, path: str) -> str:
        """The user's name of a path in the copy."""
        return (path[len(self.root) :] or "/") if within(path, self.root) else path

    def is_free(self, path: str) -> bool:
        return any(within(path, folder) for folder in self.free) or is_own(path)

    def read(self, path: str) -> str:
        """Where to read a path; itself unless its folder is claimed."""
        full = _full(path)
        if within(full, self.root):
            return self._beyond(path, full)
        if self.is_free(full):
            return path
        self._refresh()
        for folder in _upwards(full):
            is_whole = self._claimed.get(folder)
            if is_whole is not None:
                copy = self.root + full
                copied = is_whole or os.path.lexists(copy) or not self._brought.isdisjoint(_upwards(full))
                return copy if copied else path
        return path

    def _beyond(self, path: str, full: str) -> str:
        """A path in the copy that climbed out of what was copied leads to the user's file."""
        if ".." not in path or os.path.lexists(full):
            return path
        real = self.user(full)
        self._refresh()
        is_whole = next((self._claimed[f] for f in _upwards(real) if f in self._claimed), False)
        return path if is_whole or not os.path.lexists(real) else real

    def write(self, path: str, *, keep: bool = True, follow: bool = True) -> str:
        """Where to write a path, ready for it: its folder claimed, a linked file made a real one.

        `keep`: what it holds is still wanted; `follow`: it is the file that changes, not its name.
        """
        full = self._place_of(path)
        if full is None:
            return path
        folder, name = os.path.split(full)
        target = os.path.join(self._writable(folder), name)
        self._bring(target)
        if follow and os.path.islink(target):
            return self._make_real(target, keep)
        return target

    def _bring(self, target: str) -> None:
        """A link to what a folder that is not whole holds by this name; noted, so that it can be removed."""
        real = self.user(target)
        if real is target or self._claimed.get(os.path.dirname(real)) is not False or real in self._brought:
            return
        if os.path.lexists(real) and not os.path.lexists(target):
            os.symlink(real, target)
            self._note("brought", real)

    def enter(self, path: str) -> str:
        """A folder whose contents may be changed: itself claimed."""
        full = self._place_of(path)
        return path if full is None else self._writable(full)

    def _place_of(self, path: str) -> str | None:
        """The full path where something is to be changed; None where it may be changed as it is named."""
        full = _full(path)
        if within(full, self.root):
            return full
        return None if self.is_free(full) else _full(self.read(full))

    def _writable(self, folder: str) -> str:
        """The folder of the copy (or a free one) that replaces this one."""
        for _ in range(_ROUNDS):
            real = os.path.realpath(folder)
            if self.is_free(real):
                return real
            if not os.path.isdir(real):
                return self.root + real
            self.claim(real)
            if not within(folder, self.root):
                return self.root + real
            self._lead_back(folder)
        return self.root + real

    def _lead_back(self, folder: str) -> None:
        """The first link on the way that leaves the copy leads to the copy of what it meant."""
        at = self.root
        for part in os.path.relpath(folder, self.root).split(os.sep):
            at = os.path.join(at, part)
            if not os.path.islink(at):
                continue
            real = os.path.realpath(at)
            if self.is_free(real):
                continue
            if os.path.isdir(real):
                self.claim(real)
            if os.path.islink(at):
                os.unlink(at)
                os.symlink(self.root + real, at)
            return

    def _make_real(self, target: str, keep: bool) -> str:
        """A link to a file of the user's becomes a file of the copy."""
        real = os.path.realpath(target)
        if self.is_free(real):
            return target
        if os.path.isdir(real):
            return self._writable(target)
        if not os.path.exists(real):
            os.unlink(target)
            return target
        fresh = f"{target}.traindx-{os.getpid()}"
        if keep:
            shutil.copy2(real, fresh)
        else:
            os.close(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            shutil.copymode(real, fresh)
        os.replace(fresh, target)
        return target

    def claim(self, folder: str) -> None:
        """Make a folder of the user's a real one in the copy, its contents links."""
        with self._locked():
            self._refresh()
            for above in reversed(list(_upwards(os.path.dirname(folder)))):
                copy = self.root + above
                if os.path.islink(copy):
                    self._fill(above)
                elif not os.path.isdir(copy):
                    os.mkdir(copy)
            if folder not in self._claimed:
                self._fill(folder)

    def _fill(self, folder: str) -> None:
        copy = self.root if folder == os.sep else self.root + folder
        if os.path.islink(copy):
            os.unlink(copy)
        if not os.path.isdir(copy):
            os.mkdir(copy)
        names = [] if folder == os.sep else os.listdir(folder)
        # Libraries in C make files in the shared memory, which are found there.
        is_whole = folder not in (os.sep, SHARED_MEMORY) and len(names) <= _MOST_LINKS
        for name in names if is_whole else ():
            with contextlib.suppress(FileExistsError):
                os.symlink(os.path.join(folder, name), os.path.join(copy, name))
        self._note("whole" if is_whole else "partly", folder)

    def _note(self, kind: str, path: str) -> None:
        self._take(kind, path)
        line = claim_line(kind, path)
        handle = os.open(self._log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(handle, line)
        finally:
            os.close(handle)

    def _refresh(self) -> None:
        """Claims that other processes have made."""
        try:
            if os.stat(self._log).st_size == self._read:
                return
            with open(self._log, "rb") as file:
                text = file.read()
        except OSError:
            return
        self._read = len(text)
        for line in os.fsdecode(text).split("\0")[:-1]:
            kind, _, path = line.partition(" ")
            self._take(kind, path)

    def _take(self, kind: str, path: str) -> None:
        if kind == "brought":
            self._brought.add(path)
        else:
            self._claimed[path] = kind == "whole"

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        if fcntl is None:
            yield
            return
        handle = os.open(f"{self._log}.lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)


def _full(path: str) -> str:
    return os.path.normpath(path if path.startswith(os.sep) else os.path.join(os.getcwd(), path))


def claim_line(kind: str, path: str) -> bytes:
    """A claim as its file has it: names may hold every character but one."""
    return os.fsencode(f"{kind} {path}\0")


def within(path: str, folder: str) -> bool:
    return path.startswith(folder) and path[len(folder) : len(folder) + 1] in ("", os.sep)


def _upwards(path: str) -> Iterator[str]:
    """A path and the folders it is in, the nearest first."""
    while True:
        yield path
        above = os.path.dirname(path)
        if above == path:
            return
        path = above
