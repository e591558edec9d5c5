"""Options of traindx that are put after the script's name go to the script; one line says so."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.run_scripts.calling import Result, call

PARSES = """import argparse
parser = argparse.ArgumentParser()
parser.add_argument('--epochs')
parser.parse_args()
"""
ADVICE = "put traindx's options before the script: traindx "


def traindx(folder: Path, *words: str) -> Result:
    return call([sys.executable, "-m", "traindx", *words], folder)


@pytest.mark.parametrize(
    ("source", "words", "advice", "code"),
    [
        (PARSES, ("--quiet",), "run --quiet train.py", 2),
        (PARSES, ("--epochs", "3", "--steps", "5"), "run --steps 5 train.py", 2),
        (PARSES, ("--json=a.json", "--quiet"), "run --json=a.json --quiet train.py", 2),
        ("print('trained')\n", ("--stop-on", "critical"), "run --stop-on critical train.py", 0),
        # Its source has the word, but it is no option of the script.
        (f"quiet = True\n{PARSES}", ("--quiet",), "run --quiet train.py", 2),
    ],
)
def test_a_refused_or_ignored_option_is_named(
    tmp_path: Path, source: str, words: tuple[str, ...], advice: str, code: int
) -> None:
    (tmp_path / "train.py").write_text(source)
    result = traindx(tmp_path, "run", "train.py", *words)
    assert result.code == code
    (line,) = [line for line in result.err.splitlines() if ADVICE in line]
    assert line.endswith(advice)
    assert all(word.split("=")[0] in line for word in words if word.startswith("--") and word != "--epochs")


@pytest.mark.parametrize("words", [("--steps", "5"), ("--steps=5",)])
def test_an_option_of_the_script_is_its_own(tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "options.py").write_text(PARSES.replace("--epochs", "--steps"))
    (tmp_path / "train.py").write_text("import options\n")
    result = traindx(tmp_path, "run", "train.py", *words)
    assert result.code == 0
    assert ADVICE not in result.err


def test_a_module_is_called_as_one(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PARSES)
    assert f"{ADVICE}run --quiet -m train" in traindx(tmp_path, "run", "-m", "train", "--quiet").err


@pytest.mark.parametrize("command", ["preflight", "lr-find", "treat", "confirm"])
def test_other_commands_that_run_a_script_say_so_too(tmp_path: Path, command: str) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(PARSES)
    result = traindx(tmp_path, command, "train.py", "--time-budget", "1m")
    assert f"{ADVICE}{command} --time-budget 1m train.py" in result.err
    assert result.code == 2
