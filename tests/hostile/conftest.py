"""Long tests run with `make hostile` only."""

from __future__ import annotations

import os

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if os.environ.get("TRAINDX_HOSTILE"):
        return
    skip = pytest.mark.skip(reason="long: runs with 'make hostile'")
    for item in items:
        if item.get_closest_marker("long"):
            item.add_marker(skip)
