"""`traindx demo`: a real broken training where PyTorch is, a shipped log where it is not."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import traindx
from traindx.report.text import MARK

SHIPPED = Path(traindx.__file__).parent / "cli" / "_demo" / "broken_training.py"
WITHOUT_TORCH = """
import sys
sys.modules["torch"] = None
sys.argv = ["traindx", "demo"]
from traindx.cli import main
main()
"""


def call(tmp_path: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=180,
        check=False,
    )


def test_without_torch_it_diagnoses_the_log_and_says_so(tmp_path: Path) -> None:
    done = call(tmp_path, "-c", WITHOUT_TORCH)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("PyTorch is not installed, so here is the log of a training")
    assert "$ traindx diagnose diverged.log" in done.stdout
    assert "→ NaN" in done.stdout
    assert MARK in done.stdout
    assert list(tmp_path.iterdir()) == []


def test_with_torch_it_tells_the_whole_story(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    done = call(tmp_path, "-m", "traindx", "demo")
    assert done.returncode == 0, done.stderr
    assert "$ traindx run " in done.stdout
    assert "step  800  loss" in done.stdout
    assert "learning rate too high (" in done.stderr
    assert "$ traindx confirm " in done.stdout
    assert "TREATED" in done.stdout
    place = tmp_path / "traindx-demo"
    told = json.loads((place / "treatment" / "results.json").read_text())
    assert told["status"] == "treated"
    assert told["before"]["problems"][0]["hypotheses"][0]["cause"] == "lr_too_high"
    assert (place / "treatment" / "training_comparison.png").stat().st_size > 10_000
    assert (place / "train.py").read_bytes() == SHIPPED.read_bytes()
