"""The wheel as users get it: built, installed into an environment outside the tree, and used."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROGRAM = """import traindx
reveal_type(traindx.diagnose("log.csv").verdict)
traindx.read("log.csv").nothing
traindx.watch(budget=[])
"""

pytestmark = pytest.mark.long


def run(*words: object, folder: Path) -> subprocess.CompletedProcess[str]:
    around = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    told = [str(word) for word in words]
    return subprocess.run(told, cwd=folder, env=around, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy: nothing is left in the tree, and nothing that lies around gets in."""
    place = tmp_path_factory.mktemp("build")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, place / name)
    shutil.copytree(ROOT / "src", place / "src", ignore=shutil.ignore_patterns("__pycache__"))
    words = ("-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-deps", "-w", "made", ".")
    built = run(sys.executable, *words, folder=place)
    if built.returncode and ("hatchling" in built.stderr or "Could not find a version" in built.stderr):
        pytest.skip(f"the build needs hatchling from the package registry: {built.stderr[-200:]}")
    assert built.returncode == 0, built.stderr
    (made,) = (place / "made").iterdir()
    return made


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; what it depends on is lent by the one that tests."""
    home = tmp_path_factory.mktemp("environment")
    venv.create(home, symlinks=True)
    found = home / "bin" / "python"
    words = ("install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index", wheel)
    done = run(sys.executable, "-m", "pip", "--python", found, *words, folder=home)
    assert done.returncode == 0, done.stderr
    (packages,) = home.glob("lib/python*/site-packages")
    lent = [path for path in sys.path if path.endswith("site-packages")]
    (packages / "lent.pth").write_text("".join(f"{path}\n" for path in lent), encoding="utf-8")
    where = run(found, "-c", "import traindx; print(traindx.__file__)", folder=home)
    assert where.stdout.startswith(str(home)), where
    return found


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    source = ROOT / "src"
    wanted = {
        path.relative_to(source).as_posix()
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and not path.name.endswith(".pyc")
    }
    with zipfile.ZipFile(wheel) as file:
        held = {name for name in file.namelist() if ".dist-info/" not in name}
    assert held == wanted
    assert "traindx/py.typed" in held


def test_the_installed_command_works_outside_the_tree(python: Path, tmp_path: Path) -> None:
    """Commands that read each kind of file in the package: pages, tables, styles and scripts."""
    command = python.parent / "traindx"
    log = "step,loss,lr\n" + "".join(f"{n},{2 * 1.1**n},0.5\n" for n in range(80))
    for name, text in (("log.csv", log), ("other.csv", log.replace("0.5", "0.1").replace("\n2,", "\n2,1"))):
        (tmp_path / name).write_text(text, encoding="utf-8")
    (tmp_path / "train.py").write_text("import torch\nprint('loss 1')\n", encoding="utf-8")
    assert "Logs and recordings:" in run(command, "--help", folder=tmp_path).stdout
    told = run(
        command, "diagnose", "log.csv", "--md", "a.md", "--html", "a.html", "--plots", ".", folder=tmp_path
    )
    assert told.returncode == 1, told.stderr
    assert "PROBLEM" in told.stdout.upper()
    assert (tmp_path / "a.html").stat().st_size > 1_000_000
    assert list(tmp_path.glob("*.png"))
    for words in (
        ["explain", "lr_too_high"],
        ["explain", "loss_curves"],
        ["list", "remedies"],
        ["list", "checks"],
        ["lint", "train.py"],
        ["compare", "log.csv", "other.csv", "--html", "b.html"],
        ["--version"],
    ):
        done = run(command, *words, folder=tmp_path)
        assert done.returncode in (0, 1), (words, done.stderr)
        assert "itself failed" not in done.stderr, (words, done.stderr)
    recorded = run(command, "run", "--out", "rec", "train.py", folder=tmp_path)
    assert recorded.returncode == 0, recorded.stderr
    assert (tmp_path / "rec" / "run.json").exists()


def test_a_type_checker_sees_the_types(python: Path, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM, encoding="utf-8")
    words = ("--strict", "--python-executable", python, "--cache-dir", tmp_path / "cache", "program.py")
    said = run(sys.executable, "-m", "mypy", *words, folder=tmp_path).stdout
    assert "py.typed" not in said
    assert "import-untyped" not in said
    lines = [line for line in said.splitlines() if line.startswith("program.py:")]
    assert "Literal['problem'" in lines[0] or "Literal['healthy'" in lines[0], said
    assert '"Reading" has no attribute "nothing"' in lines[1]
    assert 'Argument "budget" to "watch"' in lines[2]
    assert len(lines) == 3, said
