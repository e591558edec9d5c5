"""Settings for all tests: examples may take their time on a loaded machine, and Ctrl-C is heard; the key that
signs recordings is not the one of whoever runs the tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

from tests.slow import dealt, is_long, is_slow

# Tests run side by side: trainings of two threads each would wait for one another.
os.environ.setdefault("OMP_NUM_THREADS", "1")
settings.register_profile("traindx", deadline=None)
settings.load_profile("traindx")
# A shell lets what it starts in the background ignore these, and programs that tests interrupt inherit it.
for number, usual in ((signal.SIGINT, signal.default_int_handler), (signal.SIGQUIT, signal.SIG_DFL)):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, usual)


@pytest.fixture(scope="session", autouse=True)
def key_of_our_own(tmp_path_factory: pytest.TempPathFactory) -> None:
    os.environ["XDG_STATE_HOME"] = str(tmp_path_factory.mktemp("state"))


@pytest.fixture(autouse=True)
def same_folder_afterwards() -> Iterator[None]:
    """A test that leaves the working folder changed would break another, far away from it."""
    before = os.getcwd()
    yield
    after = os.getcwd()
    os.chdir(before)
    assert after == before, "the test left the working folder changed"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Files with slow tests only are not even imported by `make quick`: most import torch."""
    quick = config.option.markexpr == "not slow" and collection_path.name.startswith("test_")
    return True if quick and is_slow(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> Iterator[None]:
    for item in items:
        name = item.name.partition("[")[0]
        if is_slow(item.path, name):
            item.add_marker("slow")
        if is_long(item.path, name) and not os.environ.get("TRAINDX_LONG"):
            item.add_marker(pytest.mark.skip(reason="takes long: make long"))
    yield
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    if workers > 1:
        items[:] = [items[at] for at in dealt([item.path for item in items], workers)]
