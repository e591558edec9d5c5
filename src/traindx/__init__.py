"""traindx: find out why a training goes wrong, fix it, prove the fix."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.checklist.here import preflight
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
    from traindx.notebook import load_ipython_extension as load_ipython_extension
    from traindx.notebook import unload_ipython_extension as unload_ipython_extension
    from traindx.record.watch import Watch, log, watch
    from traindx.trial.lr_find import lr_find

__version__ = "0.2.0"

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
    "Watch": "record.watch",
    "diagnose": "engine",
    "log": "record.watch",
    "lr_find": "trial.lr_find",
    "preflight": "checklist.here",
    "read": "engine",
    "watch": "record.watch",
}
# What `%load_ext traindx` and `%unload_ext traindx` look for.
_HOOKS = {"load_ipython_extension": "notebook", "unload_ipython_extension": "notebook"}

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
    "Watch",
    "__version__",
    "diagnose",
    "log",
    "lr_find",
    "preflight",
    "read",
    "watch",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name) or _HOOKS.get(name)
    if home is not None:
        return getattr(import_module(f"traindx.{home}"), name)
    raise AttributeError(f"module 'traindx' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
