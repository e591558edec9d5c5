"""Nothing of the user's is touched: what a trial writes goes into its copy, or is refused.

Three lines. The functions by which Python names files lead to the copy (`overlay.py`). An audit hook
refuses what would still write elsewhere. The kernel does the same for libraries in C and for programs that
the training starts, where it can (`namespace.py`, `landlock.py`). What was redirected, refused or let
through (`network.py`) is listed in `outside.jsonl`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import re
import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

from traindx.experiment.sandbox import landlock, namespace
from traindx.experiment.sandbox.devices import SHARED_MEMORY, devices, keep_memory_state
from traindx.experiment.sandbox.network import connection
from traindx.experiment.sandbox.overlay import Overlay, within

OUTSIDE = "outside.jsonl"
_MOST_LISTED = 200
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
# Which lines of the kernel to use; all there are by default.
_LINES = "TRAINDX_SANDBOX"
# Bytecode that cannot be written is no loss.
_SILENT = re.compile(r"__pycache__|\.pyc(?:\.\d+)?$")
# By the event's name: which of its arguments are paths, and whether a link at their end is followed.
_EVENTS: Mapping[str, tuple[tuple[int, ...], bool]] = {
    "os.remove": ((0,), False),
    "os.rmdir": ((0,), False),
    "os.mkdir": ((0,), False),
    "os.rename": ((0, 1), False),
    "os.link": ((0, 1), True),
    "os.symlink": ((1,), False),
    "os.truncate": ((0,), True),
    "os.chmod": ((0,), True),
    "os.chown": ((0,), True),
    "os.utime": ((0,), True),
    "os.setxattr": ((0,), True),
    "os.removexattr": ((0,), True),
    "sqlite3.connect": ((0,), True),
}
# Which argument is the folder descriptor that the first, second path belong to.
_DESCRIPTORS = {
    "os.remove": (1,),
    "os.rmdir": (1,),
    "os.mkdir": (2,),
    "os.rename": (2, 3),
    "os.link": (2, 3),
    "os.symlink": (2,),
    "os.chmod": (2,),
    "os.chown": (3,),
    "os.utime": (3,),
}


class Guard:
    """The overlay as the patched functions use it; inside itself it touches files as they are."""

    def __init__(self, overlay: Overlay, mirrors: tuple[str, ...]) -> None:
        self.overlay = overlay
        self.mirrors = mirrors
        """The user's folders that were copied: writing there is normal for a training and not reported."""
        self._own = threading.local()
        self._listed: set[tuple[str, str]] = set()

    @property
    def busy(self) -> bool:
        return getattr(self._own, "busy", False)

    def apart(self, call: Callable[[], Any]) -> Any:
        """Call with files as they are."""
        was_busy, self._own.busy = self.busy, True
        try:
            return call()
        finally:
            self._own.busy = was_busy

    def read(self, path: Any) -> Any:
        return self._mapped(path, self.overlay.read)

    def write(self, path: Any, *, keep: bool = True, follow: bool = True) -> Any:
        return self._mapped(path, lambda p: self._write_target(p, keep, follow))

    def enter(self, path: Any) -> Any:
        return self._mapped(path, self.overlay.enter)

    def empty(self, path: Any) -> Any:
        """A folder that is to be removed, with all that is in it or by itself."""
        return self._mapped(path, lambda p: self._redirected(p, self.overlay.enter(p)))

    def _write_target(self, path: str, keep: bool, follow: bool) -> str:
        return self._redirected(path, self.overlay.write(path, keep=keep, follow=follow))

    def _redirected(self, path: str, target: str) -> str:
        if target is not path and within(target, self.overlay.root) and not within(path, self.overlay.root):
            self.note("redirected", self.overlay.user(target))
        return target

    def _mapped(self, path: Any, convert: Callable[[str], str]) -> Any:
        """The path to use instead, as text or bytes as it was; itself where nothing changes."""
        if self.busy or isinstance(path, int) or path is None:
            return path
        try:
            name = os.fspath(path)
            text = os.fsdecode(name)
        except (TypeError, ValueError):
            return path
        if not text or "\0" in text:
            return path
        try:
            target = self.apart(lambda: convert(text))
        except OSError:  # what is wrong with the path shows when it is used
            return path
        if target is text:
            return path
        return os.fsencode(target) if isinstance(name, bytes) else target

    def note(self, kind: str, name: str) -> None:
        """List what happened outside the copy: `redirected`, `refused` or `let through`."""
        if (kind, name) in self._listed or len(self._listed) >= _MOST_LISTED or _SILENT.search(name):
            return
        if kind == "redirected" and any(within(name, folder) for folder in self.mirrors):
            return
        self._listed.add((kind, name))
        line = json.dumps({kind: name}) + "\n"

        def append() -> None:
            path = os.path.join(self.overlay.folder, OUTSIDE)
            handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
            try:
                os.write(handle, line.encode(errors="backslashreplace"))
            finally:
                os.close(handle)

        self.apart(append)

    # The second line.

    def heard(self, event: str, args: tuple[Any, ...]) -> None:
        """The audit hook: raises where something outside would be written."""
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITES and not self.busy:
                self._check(path, None, follow=True, folder_too=False)
            return
        if self.busy:
            return
        if event.startswith("socket."):
            reached = connection(event, args)
            if reached and not within(reached, self.overlay.folder):
                self.note("let through", reached)
        if event not in _EVENTS:
            return
        places, follow = _EVENTS[event]
        folders = _DESCRIPTORS.get(event, ())
        for number, place in enumerate(places):
            at = folders[number] if number < len(folders) else -1
            folder = args[at] if 0 <= at < len(args) else None
            self._check(args[place], folder, follow=follow)

    def _check(self, path: Any, folder: Any, *, follow: bool, folder_too: bool = True) -> None:
        if path is None or (isinstance(path, int) and (not folder_too or _is_written(path))):
            return
        try:
            text = of_descriptor(path) if isinstance(path, int) else os.fsdecode(os.fspath(path))
        except (TypeError, ValueError):
            return
        if not text or text == ":memory:" or text.startswith("file:"):
            return
        real = self.apart(lambda: _resolved(text, folder, follow))
        if real is None or self.overlay.is_free(real):
            return
        if follow and self.apart(lambda: os.path.isdir(real)) and not folder_too:
            return  # where an opener of its own opens something in the folder, and says so itself
        user = self.overlay.user(real)
        self.note("refused", user)
        raise PermissionError(
            errno.EACCES, "a trial of traindx writes only to its own copy; this path is left alone", user
        )


def of_descriptor(number: int) -> str:
    """The file behind a descriptor; empty for pipes, sockets and files without a name."""
    try:
        if sys.platform == "darwin":
            return os.fsdecode(fcntl.fcntl(number, fcntl.F_GETPATH, b"\0" * 1024).rstrip(b"\0"))
        path = os.readlink(f"/proc/self/fd/{number}")
        return path if path.startswith(os.sep) and os.fstat(number).st_nlink else ""
    except OSError:
        return ""


def _is_written(number: int) -> bool:
    """Whether a descriptor is open for writing: then its file was checked when it was opened."""
    try:
        return fcntl.fcntl(number, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY
    except OSError:
        return True  # of nothing: the call says so itself


def _resolved(path: str, folder: Any, follow: bool) -> str | None:
    if isinstance(folder, int) and folder >= 0 and not os.path.isabs(path):
        above = of_descriptor(folder)
        if not above:
            return None
        path = os.path.join(above, path)
    if follow:
        return os.path.realpath(path)
    above, name = os.path.split(os.path.abspath(path))
    return os.path.join(os.path.realpath(above), name)


def _import_from_copy(guard: Guard) -> None:
    """Modules of the user's own, also those of an editable install, come from the copy."""
    sys.path[:] = [guard.read(entry) for entry in sys.path]
    for name, module in list(sys.modules.items()):
        if name.startswith("__editable__"):
            for folders in (getattr(module, "MAPPING", None), getattr(module, "NAMESPACES", None)):
                if isinstance(folders, dict):
                    for package, location in folders.items():
                        folders[package] = guard.read(location) if isinstance(location, str) else location


def begin(orders: Mapping[str, Any]) -> Guard | None:
    """Guard this process as its orders say; None where there is no scratch to lead to."""
    scratch = orders.get("scratch")
    if not scratch:
        return None
    from traindx.experiment.sandbox.redirect import redirect

    scratch = os.path.realpath(scratch)
    writable = (orders["record"], *([orders["shared"]] if orders.get("shared") else []))
    own_folders = list(dict.fromkeys(os.path.realpath(str(path)) for path in writable))
    private, device_paths = _enter_namespace(scratch, own_folders), devices()
    memory = (SHARED_MEMORY,) if private else ()
    overlay = Overlay(scratch, (*own_folders, *device_paths, *memory))
    guard = Guard(overlay, tuple(str(user) for user, _ in orders.get("mirrors", ())))
    _import_from_copy(guard)
    redirect(guard)
    sys.addaudithook(guard.heard)
    rules = dict.fromkeys((*device_paths, "/proc/self"), landlock.CONTENTS)
    rules[SHARED_MEMORY] = landlock.WHOLE if private else landlock.FILES
    rules |= dict.fromkeys((scratch, *own_folders), landlock.WHOLE)
    bound = _is_enabled("landlock") and landlock.restrict(rules)
    if not (bound or private):
        from traindx.experiment.sandbox.programs import watch_programs

        watch_programs(guard)
    if not private:
        guard.apart(lambda: keep_memory_state(scratch))
    return guard


def _is_enabled(line: str) -> bool:
    lines = os.environ.get(_LINES)
    return lines is None or line in lines.split(",")


def _enter_namespace(scratch: str, own_folders: list[str]) -> bool:
    """The machine read-only but for the trial's own folders; False where that cannot be had."""
    above = os.path.dirname(scratch)  # of one file system, so that files can be moved between them
    writable = [above, *(path for path in own_folders if not within(path, above))]
    return _is_enabled("namespace") and namespace.enter(scratch, writable)
