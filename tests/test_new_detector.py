"""`make new-detector` writes a detector that keeps the promises of all detectors from its first minute."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
BIN = Path(sys.executable).parent


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is needed of the project, in a folder of its own."""
    place = tmp_path_factory.mktemp("clone")
    for folder in ("src", "tools", "tests/detectors", "docs", "examples"):
        shutil.copytree(ROOT / folder, place / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in ("tests/__init__.py", "tests/conftest.py", "tests/slow.py", "pyproject.toml", "README.md"):
        shutil.copy(ROOT / file, place / file)
    return place


def call(clone: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        cwd=clone,
        env={**os.environ, "PYTHONPATH": str(clone / "src")},
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )


def scaffold(clone: Path, name: str, area: str) -> subprocess.CompletedProcess[str]:
    return call(clone, sys.executable, "tools/new_detector.py", name, area)


def test_it_passes_from_the_first_minute(clone: Path) -> None:
    done = scaffold(clone, "loss_ends_high", "loss")
    assert done.returncode == 0, done.stderr
    path = Path(done.stdout.split(" ", 1)[1].split(". Now:")[0])
    assert path.is_relative_to(clone / "src")
    cases = call(
        clone, sys.executable, "-m", "pytest", "tests/detectors/test_cases.py", "-k", "loss_ends_high"
    )
    assert cases.returncode == 0, cases.stdout
    assert " passed" in cases.stdout
    wild = "wild_runs or healthy_trainings"
    calm = call(clone, sys.executable, "-m", "pytest", "tests/detectors/test_cases.py", "-k", wild)
    assert calm.returncode == 0, calm.stdout
    for checker in (("ruff", "check"), ("ruff", "format", "--check"), ("mypy", "--follow-imports=silent")):
        checked = call(clone, str(BIN / checker[0]), *checker[1:], str(path))
        assert checked.returncode == 0, checked.stdout
    shown = call(clone, sys.executable, "-m", "traindx", "explain", "loss_ends_high")
    assert "The loss ends far above its median." in shown.stdout


@pytest.mark.parametrize(
    ("name", "area", "said"),
    [
        ("LossRepeats", "loss", "must say what is seen"),
        ("loss_frozen", "loss", "There is a detector loss_frozen already"),
        ("loss_repeats", "nowhere", "AREA must be one of crash, data, files, gradients, layers"),
        ("../../evil_file", "loss", "must say what is seen"),
    ],
)
def test_what_does_not_fit_is_said(clone: Path, name: str, area: str, said: str) -> None:
    done = scaffold(clone, name, area)
    assert done.returncode == 1
    assert said in done.stderr
    assert "Traceback" not in done.stderr
