"""traindx: find out why a training goes wrong, fix it, prove the fix."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.core import (
        Check,
        Diagnosis,
        Event,
        Evidence,
        Finding,
        Fix,
        Hypothesis,
        Note,
        Problem,
        Reading,
        Run,
        Series,
    )
    from traindx.engine import diagnose, read

__version__ = "0.1.0"

_HOMES = {
    "Check": "core",
    "Diagnosis": "core",
    "Event": "core",
    "Evidence": "core",
    "Finding": "core",
    "Fix": "core",
    "Hypothesis": "core",
    "Note": "core",
    "Problem": "core",
    "Reading": "core",
    "Run": "core",
    "Series": "core",
    "diagnose": "engine",
    "read": "engine",
}

__all__ = [
    "Check",
    "Diagnosis",
    "Event",
    "Evidence",
    "Finding",
    "Fix",
    "Hypothesis",
    "Note",
    "Problem",
    "Reading",
    "Run",
    "Series",
    "__version__",
    "diagnose",
    "read",
]


def __getattr__(name: str) -> object:
    if name in _HOMES:
        return getattr(import_module(f"traindx.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'traindx' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
