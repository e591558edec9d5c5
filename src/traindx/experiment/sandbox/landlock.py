"""Linux's Landlock: from now on this process and its children write where its rules permit it, only.

It binds what Python cannot see, too: libraries in C and programs that the training starts. It needs no
rights, and cannot be taken back.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import stat
import sys
from collections.abc import Mapping

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_BENEATH = 1
_VERSION = 1
_NO_NEW_PRIVILEGES = 38
_WRITE_FILE, _REMOVE_FILE, _MAKE_FILE = 1 << 1, 1 << 5, 1 << 8
# Removing folders and files; making devices, folders, files, sockets, pipes, block devices and links.
_FOLDER_RIGHTS = sum(1 << bit for bit in range(4, 13))
_REFER, _TRUNCATE = 1 << 13, 1 << 14
# What a rule may permit: everything; the contents of what is there; files that come and go.
WHOLE = _WRITE_FILE | _FOLDER_RIGHTS | _REFER | _TRUNCATE
CONTENTS = _WRITE_FILE | _TRUNCATE
FILES = CONTENTS | _MAKE_FILE | _REMOVE_FILE
# The first versions of Landlock refuse every move from one folder to another.
_LEAST = 2


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64),)


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def version() -> int:
    """Which Landlock the kernel has; 0 where there is none."""
    if not sys.platform.startswith("linux"):
        return 0
    with contextlib.suppress(OSError, AttributeError):
        return max(0, int(_libc().syscall(_CREATE, None, 0, _VERSION)))
    return 0


def restrict(rules: Mapping[str, int]) -> bool:
    """By path: what may be done there from now on. False where the kernel cannot hold it."""
    abi = version()
    if abi < _LEAST:
        return False
    handled = WHOLE if abi >= 3 else WHOLE & ~_TRUNCATE
    libc, ruleset = _libc(), _Ruleset(handled)
    handle = libc.syscall(_CREATE, ctypes.byref(ruleset), ctypes.sizeof(ruleset), 0)
    if handle < 0:
        return False
    try:
        for path, rights in rules.items():
            _allow(libc, handle, path, rights & handled)
        if libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0):
            return False
        return bool(libc.syscall(_RESTRICT, handle, 0) == 0)
    finally:
        os.close(handle)


def _allow(libc: ctypes.CDLL, rules: int, path: str, rights: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        handle = os.open(path, getattr(os, "O_PATH", 0) | os.O_CLOEXEC)
        try:
            folder = stat.S_ISDIR(os.fstat(handle).st_mode)
            rule = _PathBeneath(rights if folder else rights & CONTENTS, handle)
            libc.syscall(_ADD_RULE, rules, _BENEATH, ctypes.byref(rule), 0)
        finally:
            os.close(handle)


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)
