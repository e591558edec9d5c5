"""traindx: find out why a training goes wrong, fix it, prove the fix."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.checkup.api import check
    from traindx.checkup.model.layer_table import activations, gradients
    from traindx.comparison.api import compare
    from traindx.core.nouns import (
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
    from traindx.engine import diagnose, lint, read
    from traindx.experiment.api import confirm, preflight, prove, treat
    from traindx.experiment.lr_find.api import lr_find
    from traindx.interview.api import ask
    from traindx.observe.watch import Watch, log, watch
    from traindx.report.brief.api import brief
    from traindx.serve.notebook import load_ipython_extension as load_ipython_extension
    from traindx.serve.notebook import unload_ipython_extension as unload_ipython_extension

__version__ = "0.2.0"

_HOMES = {
    "Check": "core.nouns",
    "Diagnosis": "core.nouns",
    "Event": "core.nouns",
    "Evidence": "core.nouns",
    "Finding": "core.nouns",
    "Fix": "core.nouns",
    "Hypothesis": "core.nouns",
    "Note": "core.nouns",
    "Problem": "core.nouns",
    "Reading": "core.nouns",
    "Run": "core.nouns",
    "Series": "core.nouns",
    "Watch": "observe.watch",
    "activations": "checkup.model.layer_table",
    "ask": "interview.api",
    "brief": "report.brief.api",
    "check": "checkup.api",
    "compare": "comparison.api",
    "confirm": "experiment.api",
    "diagnose": "engine",
    "gradients": "checkup.model.layer_table",
    "lint": "engine",
    "log": "observe.watch",
    "lr_find": "experiment.lr_find.api",
    "preflight": "experiment.api",
    "prove": "experiment.api",
    "read": "engine",
    "treat": "experiment.api",
    "watch": "observe.watch",
}
# What `%load_ext traindx` and `%unload_ext traindx` look for.
_HOOKS = {"load_ipython_extension": "serve.notebook", "unload_ipython_extension": "serve.notebook"}

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
    "activations",
    "ask",
    "brief",
    "check",
    "compare",
    "confirm",
    "diagnose",
    "gradients",
    "lint",
    "log",
    "lr_find",
    "preflight",
    "prove",
    "read",
    "treat",
    "watch",
]


def __getattr__(name: str) -> object:
    home = _HOMES.get(name) or _HOOKS.get(name)
    if home is not None:
        return getattr(import_module(f"traindx.{home}"), name)
    raise AttributeError(f"module 'traindx' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
