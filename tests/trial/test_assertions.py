"""`assert_trains` and `assert_better` in tests that pytest runs, on real short trainings."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).parents[2]
FAULTY = (Path(__file__).parent / "scripts" / "sums_gradients.py").read_text(encoding="utf-8")
HEALTHY = FAULTY.replace("    loss.backward()", "    optimizer.zero_grad()\n    loss.backward()")
PLUGIN = ("-p", "no:traindx", "-p", "traindx.integrations.pytest_plugin", "-p", "no:cacheprovider")
TESTS = """
import pytest
from traindx.testing import assert_better, assert_trains

pytestmark = pytest.mark.training


def test_good():
    diagnosis = assert_trains("good.py", reaches={"loss": 0.5})
    assert diagnosis.verdict != "problem"


def test_bad():
    assert_trains("bad.py")


def test_not_far_enough():
    assert_trains("good.py", reaches={"loss": 0.0001})


def test_crashes():
    assert_trains("crashes.py")


def test_no_such_series():
    assert_trains("good.py", reaches={"val/accuracy": 0.9})


def test_better():
    assert assert_better("bad.py", with_="good.py").best.answer == "better"


def test_not_better():
    assert_better("good.py", with_="bad.py")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="trials need fork")
def test_what_passes_and_what_fails(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    for name, text in (
        ("good", HEALTHY),
        ("bad", FAULTY),
        ("crashes", "import torch\nraise SystemExit(3)\n"),
    ):
        (pytester.path / f"{name}.py").write_text(text, encoding="utf-8")
    pytester.makepyfile(test_it=TESTS)
    skipped = pytester.runpytest_subprocess(*PLUGIN, "--no-trainings", "--strict-markers")
    skipped.assert_outcomes(skipped=7)
    result = pytester.runpytest_subprocess(*PLUGIN, "--strict-markers", "--tb=short")
    result.assert_outcomes(passed=2, failed=5)
    said = result.stdout.str()
    assert "bad.py has a problem (nonfinite)" in said
    assert "missing_zero_grad" in said
    assert "at bad.py:14" in said
    assert "good.py does not get far enough: loss is 0.0" in said
    assert "crashes.py does not train" in said
    assert "val/accuracy is not logged" in said
    assert "good.py: worse, not better." in said
    # The line of the test is shown, not the inside of the assertion.
    assert "test_it.py:13: in test_bad" in said or "test_it.py:13: AssertionError" in said
    assert "pytest_assertions.py" not in said


def test_it_costs_nothing_to_have_it() -> None:
    code = """
import sys
sys.modules["pytest"] = sys
sys.Parser = sys.Config = sys.Item = None
import traindx.integrations.pytest_plugin
from traindx.testing import assert_trains, assert_better
print(*sorted(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    ours = {"traindx", "pytest", "__main__", "sitecustomize", "_distutils_hack"}
    assert loaded - set(sys.stdlib_module_names) <= ours


def test_the_entry_point_leads_to_the_plugin() -> None:
    from importlib import import_module

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    module = import_module(project["entry-points"]["pytest11"]["traindx"])
    assert callable(module.pytest_addoption)


def test_only_the_two_names() -> None:
    import traindx.testing

    assert all(callable(getattr(traindx.testing, name)) for name in traindx.testing.__all__)
    with pytest.raises(AttributeError, match="assert_learns"):
        traindx.testing.assert_learns  # type: ignore[attr-defined]  # noqa: B018
