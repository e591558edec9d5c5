"""What pytest gets of traindx: the marker `training`, and `--no-trainings` to leave such tests out."""

from __future__ import annotations

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("traindx")
    group.addoption("--no-trainings", action="store_true", help="Skip tests that are marked 'training'.")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "training: runs a training (traindx); --no-trainings skips it")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--no-trainings"):
        return
    for item in items:
        if item.get_closest_marker("training") is not None:
            item.add_marker(pytest.mark.skip(reason="--no-trainings"))
