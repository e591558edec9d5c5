"""Connections that a training opens: a trial lets them through and says which."""

from __future__ import annotations

import os
import socket
from typing import Any

_names: dict[object, str] = {}


def connection(event: str, args: tuple[Any, ...]) -> str:
    """What an audit event of `socket` reaches, in words; empty where it reaches nothing."""
    if event == "socket.getaddrinfo":
        host, port = args[:2]
        if isinstance(host, str | bytes) and host:
            _names[port] = _text(host)
        return ""
    if event not in ("socket.connect", "socket.sendto"):
        return ""
    family, address = args[0].family, args[1]
    if family == socket.AF_UNIX:
        path = _text(address)
        return os.path.realpath(path) if path and not path.startswith("\0") else ""
    if isinstance(address, tuple) and len(address) >= 2:
        host, port = _text(address[0]), address[1]
        return f"network {_names.get(port) or _names.get(str(port)) or host}:{port}"
    return ""


def _text(word: object) -> str:
    return os.fsdecode(word) if isinstance(word, str | bytes) else str(word)
