"""The public names: sorted, real, and no more than meant."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import traindx


def test_the_list_is_sorted_and_complete() -> None:
    assert sorted(traindx.__all__) == list(traindx.__all__)
    assert sorted(traindx.__all__) == dir(traindx)
    nouns = "Check Diagnosis Event Evidence Finding Fix Hypothesis Note Problem Reading Run Series Watch"
    verbs = "activations ask brief check compare confirm diagnose gradients"
    more = "lint log lr_find preflight prove read treat watch"
    assert traindx.__all__ == [*nouns.split(), "__version__", *verbs.split(), *more.split()]


@pytest.mark.parametrize("name", traindx.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(traindx, name) is not None


def test_no_room_takes_the_name_of_a_function() -> None:
    """Once it is imported, a package replaces the function of its name: `compare` is in `comparison`."""
    rooms = {path.name.removesuffix(".py") for path in Path(traindx.__file__).parent.iterdir()}
    assert rooms.isdisjoint(traindx.__all__)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = traindx.nothing


def test_python_m_traindx_is_the_command() -> None:
    result = subprocess.run(
        [sys.executable, "-m", "traindx", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == f"traindx, version {traindx.__version__}"
