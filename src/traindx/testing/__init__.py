"""For tests: trainings that are asserted to go well (`assert_trains`, `assert_better`), and small made-up
runs for tests of detectors and plugins (`traindx.testing.sketch`).
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.integrations.pytest_assertions import assert_better, assert_trains

__all__ = ["assert_better", "assert_trains"]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module("traindx.integrations.pytest_assertions"), name)
    raise AttributeError(f"module 'traindx.testing' has no attribute {name!r}")
