"""Every example runs as its README says, and traindx says about it what the README promises."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from examples.run import HERE, NAMES, commands, readme, run

import traindx

PICTURES = HERE.parent / "docs" / "images" / "gallery"
LARGEST = 100_000


def first_cause(path: Path) -> tuple[str, str]:
    """The symptom of the gravest problem and its most likely cause."""
    diagnosis = traindx.diagnose(path)
    assert diagnosis.verdict == "problem"
    problem = diagnosis.problems[0]
    return problem.symptom, problem.hypotheses[0].cause


def test_every_folder_is_an_example() -> None:
    folders = {path.parent.name for path in HERE.glob("*/README.md")}
    assert folders == set(NAMES)
    index = (HERE / "README.md").read_text(encoding="utf-8")
    for name in NAMES:
        assert f"({name}/README.md)" in index


@pytest.mark.parametrize("name", NAMES)
def test_it_has_a_small_picture(name: str) -> None:
    (picture,) = PICTURES.glob(f"{name}.*")
    assert f"docs/images/gallery/{picture.name})" in readme(name)
    assert picture.stat().st_size < LARGEST
    assert commands(name)


def test_stranger_log(tmp_path: Path) -> None:
    shown = run("stranger_log", tmp_path)
    assert first_cause(tmp_path / "stranger_log" / "train.log") == ("plateau", "lr_schedule")
    (reading,) = traindx.read(tmp_path / "stranger_log" / "train.log").runs
    assert {"loss", "val/loss", "lr", "grad_norm", "val/accuracy"} <= set(reading.series)
    assert "The learning rate fell to 0.0003 (0.1 % of its peak) at step 1,160" in shown


def test_first_nan(tmp_path: Path) -> None:
    shown = run("first_nan", tmp_path)
    assert first_cause(tmp_path / "first_nan" / "recording") == ("nonfinite", "unstable_math")
    assert "train.py:18, layer body.0" in shown
    assert "in 1 of 32 rows (first: 1)" in " ".join(shown.split())


def test_overfitting(tmp_path: Path) -> None:
    run("overfitting", tmp_path)
    symptom, cause = first_cause(tmp_path / "overfitting" / "history.csv")
    assert symptom == "overfitting"
    assert cause in ("under_regularised", "too_little_data")


def test_slow_loader(tmp_path: Path) -> None:
    shown = run("slow_loader", tmp_path)
    assert first_cause(tmp_path / "slow_loader" / "recording") == ("slow_training", "input_bound")
    assert "num_workers=4)" in shown


def test_sweep(tmp_path: Path) -> None:
    shown = " ".join(run("sweep", tmp_path).split())
    assert "lr=0.1 is better than lr=0.01" in shown
    assert "good 0.1 (best 0.1), too low up to 0.01, too high from 3." in shown


def test_one_line_watch(tmp_path: Path) -> None:
    run("one_line_watch", tmp_path)
    expected = ("silent_defect", "untrained_parameters")
    assert first_cause(tmp_path / "one_line_watch" / "recording") == expected


def test_notebook(tmp_path: Path) -> None:
    shown = run("notebook", tmp_path)
    (recording,) = (tmp_path / "notebook" / ".traindx").glob("notebook-*")
    assert first_cause(recording) == ("silent_defect", "double_activation")
    assert "PROBLEM" in shown


def test_treat(tmp_path: Path) -> None:
    shown = run("treat", tmp_path)
    results = json.loads((tmp_path / "treat" / "treatment" / "results.json").read_text(encoding="utf-8"))
    assert results["status"] == "treated", shown
    assert results["before"]["problems"][0]["hypotheses"][0]["cause"] == "missing_zero_grad"
    patch = (tmp_path / "treat" / "treatment" / "fix.patch").read_text(encoding="utf-8")
    assert "+        optimizer.zero_grad()" in patch
    assert (tmp_path / "treat" / "train.py").read_text() == (HERE / "treat" / "train.py").read_text()
