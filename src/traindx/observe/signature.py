"""Who made a recording: a signature over what was run and where, by a key that only this user has.

A recording names a program to run again, and may come from anywhere. Only one that this user made here
carries a signature that holds; where anything is missing or odd it does not.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
import stat
import tempfile
from collections.abc import Mapping

from traindx.observe.children import ORDERS

_BYTES = 32
_SIGNED = ("command", "folder", "script")


def sign(facts: Mapping[str, object]) -> str | None:
    """The signature of a recording that begins; None where there can be no key, and in a trial's copies."""
    if facts.get("command") is None or ORDERS in os.environ:
        return None
    try:
        key = _key() or _new_key()
        return None if key is None else _digest(key, facts)
    except Exception:  # a training is not kept from running; unsigned, its recording is asked about
        return None


def holds(facts: Mapping[str, object]) -> bool:
    """Whether this user made the recording, and nobody else can have replaced the folder it ran in."""
    signature, folder = facts.get("signature"), facts.get("folder")
    if not isinstance(signature, str) or not isinstance(folder, str):
        return False
    try:
        key = _key()
        ours = _ours(os.stat(folder), 0o002)
    except (OSError, ValueError, AttributeError):  # the last: on systems without users
        return False
    if key is None or not ours:
        return False
    return hmac.compare_digest(_digest(key, facts).encode(), signature.encode(errors="replace"))


def _digest(key: bytes, facts: Mapping[str, object]) -> str:
    message = json.dumps(["recording", *(facts.get(name) for name in _SIGNED)], sort_keys=True)
    return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()


def _path() -> str:
    home = os.environ.get("XDG_STATE_HOME", "")
    if not os.path.isabs(home):
        home = os.path.join(os.path.expanduser("~"), ".local", "state")
    if not os.path.isabs(home):
        raise FileNotFoundError("there is no home")
    return os.path.join(home, "traindx", "key")


def _key() -> bytes | None:
    """The key, when nobody else can have read or written it."""
    path = _path()
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with open(handle, "rb") as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _ours(status, 0o077):
            return None
        key = file.read(_BYTES + 1)
    return key if len(key) == _BYTES else None


def _new_key() -> bytes | None:
    """Made whole under another name first: of several processes one wins, and all have its key."""
    path = _path()
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    handle, scratch = tempfile.mkstemp(prefix=".key-", dir=os.path.dirname(path))
    try:
        with open(handle, "wb") as file:
            file.write(os.urandom(_BYTES))
        with contextlib.suppress(FileExistsError):
            os.link(scratch, path)
    finally:
        os.unlink(scratch)
    return _key()


def _ours(status: os.stat_result, rights: int) -> bool:
    """Whether it is this user's, without these rights for others."""
    return status.st_uid == os.getuid() and not status.st_mode & rights
