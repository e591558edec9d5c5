"""`traindx compare --baseline`: a reference run sharpens a diagnosis, with numbers and never without."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from traindx.cli import cli
from traindx.comparison.baseline import Sharpened, sharpen
from traindx.comparison.compare import compare
from traindx.comparison.subjects import subjects
from traindx.core.nouns import Evidence, Hypothesis, Problem, Run, Scalar
from traindx.engine import diagnose
from traindx.testing.sketch import run


def training(end: float, name: str, *, overfits: bool = True, **settings: Scalar) -> Run:
    steps = np.arange(240)
    rng = np.random.default_rng(len(name))
    loss = 0.05 + 2 * np.exp(-steps / 30) + rng.normal(0, 0.01, 240)
    val = end + 2 * np.exp(-steps / 30) + rng.normal(0, 0.01, 240)
    if overfits:
        val = val + np.where(steps > 80, 0.01 * (steps - 80), 0)
    made = run({"loss": loss, "val/loss": val, "lr": np.full(240, 0.01)}, settings={"lr": 0.01, **settings})
    return replace(made, name=name, path=name)


def against(good: Run, bad: Run) -> Sharpened:
    told = compare(subjects([good, bad], [diagnose(good), diagnose(bad)]))
    return sharpen(told, 1, 0)


def confidence(problem: Problem, cause: str) -> float:
    return next((one.confidence for one in problem.hypotheses if one.cause == cause), 0.0)


def weights(sharpened: Sharpened, cause: str) -> list[Evidence]:
    causes: list[Hypothesis] = [
        one for problem in sharpened.diagnosis.problems for one in problem.hypotheses if one.cause == cause
    ]
    return [item for one in causes for item in (*one.evidence, *one.against) if item.finding == "baseline"]


def test_a_setting_that_differs_the_right_way_speaks_for_its_cause() -> None:
    bad = training(0.3, "bad", train_samples=200)
    good = training(0.3, "good", overfits=False, train_samples=20000)
    before = diagnose(bad).problems[0]
    told = against(good, bad)
    after = told.diagnosis.problems[0]
    assert confidence(after, "too_little_data") > confidence(before, "too_little_data")
    (item,) = weights(told, "too_little_data")
    assert item.bits > 0
    assert "train_samples is 200; the baseline trained with 20000" in item.text
    total = sum(one.confidence for one in after.hypotheses) + after.rest
    assert total == pytest.approx(1.0)


def test_a_setting_that_is_the_same_speaks_against_its_cause() -> None:
    told = against(
        training(0.3, "good", overfits=False, train_samples=200), training(0.3, "bad", train_samples=200)
    )
    (item,) = weights(told, "too_little_data")
    assert item.bits < 0
    assert "the same in the baseline" in item.text


def test_what_the_baseline_did_at_the_onset_is_told_with_numbers() -> None:
    told = against(training(0.3, "good", overfits=False), training(0.3, "bad"))
    onset = told.diagnosis.problems[0].onset_step
    line = next(text for text in told.sentences if text.startswith("At step"))
    assert f"At step {onset:g}" in line
    assert "val/loss" in line
    assert "baseline 0." in line


def test_nothing_is_concluded_from_a_baseline_that_is_no_better() -> None:
    told = against(training(0.9, "good", train_samples=20000), training(0.3, "bad", train_samples=200))
    assert not weights(told, "too_little_data")
    assert "Nothing is concluded" in told.sentences[0]


def test_what_the_baseline_shows_too_goes_down_by_one_grade() -> None:
    bad, good = training(0.3, "bad"), training(0.305, "good")
    before = diagnose(bad).problems[0].severity
    told = against(good, bad)
    assert (before, told.diagnosis.problems[0].severity) in {("high", "medium"), ("medium", "low")}
    assert any(f"{before} becomes" in text for text in told.sentences)


def test_on_the_command_line(tmp_path: Path) -> None:
    paths = []
    for name, made in (("good", training(0.3, "good", overfits=False)), ("bad", training(0.3, "bad"))):
        loss, val = made.series["loss"].values, made.series["val/loss"].values
        rows = "".join(f"{n},{a:.5f},{b:.5f}\n" for n, (a, b) in enumerate(zip(loss, val, strict=True)))
        paths.append(tmp_path / f"{name}.csv")
        paths[-1].write_text("step,loss,val_loss\n" + rows, encoding="utf-8")

    def call(*args: object) -> tuple[int, str]:
        result = CliRunner(env={"TRAINDX_DEBUG": "1"}).invoke(cli, ["compare", *map(str, args)])
        return result.exit_code, result.output

    code, text = call("--baseline", *paths)
    assert code == 1
    assert "At step" in text
    assert "PROBLEM" in text
    code, text = call("--baseline", *paths, "--json")
    assert json.loads(text)["diagnoses"][0]["problems"]
    code, text = call("--baseline", paths[0], paths[0])
    assert code == 2
    assert "given twice" in text
    code, text = call("--baseline", tmp_path, paths[1])
    assert code == 2
    assert "takes one run" in text
    out = tmp_path / "p.html"
    assert call("--baseline", *paths, "--html", out, "--md", "-")[0] == 1
    assert "run-1-charts" in out.read_text(encoding="utf-8")
