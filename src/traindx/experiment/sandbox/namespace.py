"""Linux's mount namespaces: the machine's files become read-only for this process and its children.

It binds everything, also what Landlock lets pass (rights, owners and times of files), and gives them shared
memory of their own: `/dev/shm` looks as before, and what is changed there is gone with them. Where the system
permits no namespace, Landlock is what is left.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import sys
from collections.abc import Sequence

from traindx.experiment.sandbox.devices import SHARED_MEMORY

# The scratch folder of the trial whose namespace this process is in.
_INSIDE = "TRAINDX_NAMESPACE"
_NEW_MOUNTS, _NEW_USER = 0x20000, 0x10000000
_BIND, _RECURSIVE, _PRIVATE = 1 << 12, 1 << 14, 1 << 18
_DETACH = 2
_MOUNT_SETATTR = 442
_CAPSET = {"x86_64": 126, "aarch64": 91}
_READ_ONLY, _ALL_BELOW = 1, 0x8000
_HERE = -100


class _Attributes(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_uint64) for name in ("set", "clear", "propagation", "user"))


def enter(scratch: str, writable: Sequence[str]) -> bool:
    """Whether only `writable` and what has been freed can be changed from now on, by any way."""
    if os.environ.get(_INSIDE) == scratch:
        return True
    if not sys.platform.startswith("linux") or not _works(scratch, writable):
        return False
    _enter(scratch, writable)
    os.environ[_INSIDE] = scratch
    return True


def _works(scratch: str, writable: Sequence[str]) -> bool:
    """Tried in a process of its own: what fails half-way cannot be taken back."""
    child = os.fork()
    if not child:
        try:
            _enter(scratch, writable)
            os._exit(0)
        except BaseException:
            os._exit(1)
    return os.waitpid(child, 0)[1] == 0


def _enter(scratch: str, writable: Sequence[str]) -> None:
    cwd = os.getcwd()
    as_user = _unshare()
    _mount("none", "/", None, _RECURSIVE | _PRIVATE)
    for folder in writable:
        _mount(folder, folder, None, _BIND | _RECURSIVE)
    _set_read_only("/", True, _ALL_BELOW)
    for folder in (*writable, "/proc"):
        _set_read_only(folder, False)
    if os.path.isdir(SHARED_MEMORY):
        _private_memory(os.path.join(scratch, "shm"), as_user)
    os.chdir(cwd)  # as it is in the new namespace
    if as_user:
        _drop_capabilities()


def _unshare() -> bool:
    """Into a namespace of our own; True where that took a user namespace, too."""
    with contextlib.suppress(OSError):
        _call("unshare", _NEW_MOUNTS)
        return False
    user, group = os.geteuid(), os.getegid()
    _call("unshare", _NEW_MOUNTS | _NEW_USER)
    for name, text in (
        ("setgroups", "deny"),
        ("uid_map", f"{user} {user} 1"),
        ("gid_map", f"{group} {group} 1"),
    ):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)
    return True


def _private_memory(store: str, as_user: bool) -> None:
    """Shared memory that begins as the machine's is now, of the same size."""
    facts = os.statvfs(SHARED_MEMORY)
    mode = os.stat(SHARED_MEMORY).st_mode & 0o7777
    os.makedirs(store, exist_ok=True)
    _mount("tmpfs", store, "tmpfs", 0, f"mode=755,size={facts.f_blocks * facts.f_frsize or '50%'}")
    upper, work = os.path.join(store, "upper"), os.path.join(store, "work")
    for folder in (upper, work):
        os.mkdir(folder)
    os.chmod(upper, mode)
    layers = f"lowerdir={SHARED_MEMORY},upperdir={upper},workdir={work}" + ",userxattr" * as_user
    _mount("traindx", SHARED_MEMORY, "overlay", 0, layers)
    _call("umount2", store.encode(), _DETACH)


def _mount(source: str, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    _call(
        "mount",
        source.encode(errors="surrogateescape"),
        target.encode(errors="surrogateescape"),
        kind.encode() if kind else None,
        ctypes.c_ulong(flags),
        data.encode(errors="surrogateescape") if data else None,
    )


def _set_read_only(path: str, wish: bool, flags: int = 0) -> None:
    change = _Attributes(_READ_ONLY if wish else 0, 0 if wish else _READ_ONLY, 0, 0)
    name = path.encode(errors="surrogateescape")
    _call("syscall", _MOUNT_SETATTR, _HERE, name, flags, ctypes.byref(change), ctypes.sizeof(change))


def _drop_capabilities() -> None:
    """Those that came with the user namespace: files keep the rights they have for this user."""
    number = _CAPSET.get(os.uname().machine)
    if number is None:
        raise OSError("capabilities cannot be dropped on this machine")
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    _call("syscall", number, header, (ctypes.c_uint32 * 6)())


def _call(name: str, *args: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*args) < 0:
        raise OSError(ctypes.get_errno(), f"{name} failed")
