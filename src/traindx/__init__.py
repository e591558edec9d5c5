"""traindx: find out why a training goes wrong, fix it, prove the fix."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.core import Event, Note, Reading, Run, Series
    from traindx.engine import read

__version__ = "0.1.0"

_HOMES = {
    "Event": "core",
    "Note": "core",
    "Reading": "core",
    "Run": "core",
    "Series": "core",
    "read": "engine",
}

__all__ = ["Event", "Note", "Reading", "Run", "Series", "__version__", "read"]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"traindx.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'traindx' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
