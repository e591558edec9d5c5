"""Combinations of settings in a sweep: found where they are, with their size, and not where effects add."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import traindx.comparison.effects
from traindx.cli import cli
from traindx.comparison.combinations import Combination, combinations
from traindx.comparison.effects import Interaction, effects
from traindx.comparison.factors import factors_of
from traindx.comparison.in_units import in_units
from traindx.core.nouns import FloatArray
from traindx.report.combination_words import combination_headline

LEVELS: Mapping[str, Sequence[object]] = {
    "lr": (3e-4, 6e-4, 1e-3),
    "batch_size": (64, 128, 256),
    "dropout": (0, 0.1, 0.2),
    "warmup": (0, 500),
    "sampler": ("balanced", "uniform"),
    "crop": (128, 160, 192),
    "ema": (True, False),
    "optimizer": ("adam", "sgd", "lion", "adamw"),
}
Settings = dict[str, list[str | None]]


def folder(rng: np.random.Generator, runs: int = 60) -> Settings:
    """Random settings; the weight decay has a value of its own in every run."""
    settings: Settings = {
        name: [str(levels[at]) for at in rng.integers(0, len(levels), runs)]
        for name, levels in LEVELS.items()
    }
    return {**settings, "weight_decay": [f"{10**power:.6f}" for power in rng.uniform(-4, -1, runs)]}


def having(settings: Settings, **values: str) -> FloatArray:
    """1 for the runs that have all these values."""
    chosen = [[one == value for one in settings[name]] for name, value in values.items()]
    return np.all(chosen, axis=0).astype(np.float64)


def reported(settings: Settings, metric: FloatArray) -> list[Combination]:
    """Of a metric that is to rise."""
    return combinations(factors_of(settings, metric.size), metric, places(metric))


def places(metric: FloatArray) -> FloatArray:
    worst_last = np.argsort(np.argsort(-np.where(np.isfinite(metric), metric, -np.inf)))
    return worst_last.astype(np.float64) / (metric.size - 1)


def test_a_combination_is_found_with_its_size() -> None:
    right = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        settings = folder(rng)
        both = having(settings, sampler="balanced", ema="True")
        found = reported(settings, 0.84 - 0.05 * both + rng.normal(0, 0.008, 60))
        if [set(one.conditions) for one in found] == [{"sampler=balanced", "ema=True"}]:
            right += 1
            assert found[0].contrast.difference == pytest.approx(-0.05, abs=0.01)
            assert found[0].contrast.runs == int(both.sum())
            assert found[0].hurts
    assert right >= 18


def test_a_range_of_numbers_can_be_half_of_a_combination() -> None:
    rng = np.random.default_rng(3)
    settings = folder(rng, 80)
    decay = np.array([float(value or 0) for value in settings["weight_decay"]])
    both = having(settings, warmup="0") * (decay > np.median(decay))
    (found,) = reported(settings, 0.84 - 0.06 * both + rng.normal(0, 0.008, 80))
    assert set(found.settings) == {"warmup", "weight_decay"}
    assert any(condition.startswith("weight_decay>=") for condition in found.conditions)


def test_a_combination_in_which_every_run_fails() -> None:
    rng = np.random.default_rng(3)
    settings = folder(rng, 80)
    both = having(settings, warmup="0", optimizer="adam")
    (found,) = reported(settings, np.where(both > 0, np.nan, 0.84 + rng.normal(0, 0.008, 80)))
    runs = int(both.sum())
    assert f"{runs} of {runs} runs failed against 0 of {80 - runs}" in combination_headline(found)
    assert found.hurts


@pytest.mark.parametrize("kind", ["noise", "main effects"])
def test_no_combinations_where_effects_add(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of 100 folders of each kind at most one in twenty may report that two settings act together."""
    monkeypatch.setattr(traindx.comparison.effects, "_RESAMPLES", 2)
    wrong = 0
    for seed in range(100):
        rng = np.random.default_rng(1000 + seed)
        settings = folder(rng)
        metric = 0.84 + rng.normal(0, 0.01, 60)
        for name in rng.choice(list(LEVELS), 3, replace=False) if kind == "main effects" else ():
            steps = dict(zip(dict.fromkeys(settings[name]), rng.permutation(4), strict=False))
            metric -= rng.uniform(0.005, 0.05) * np.array([steps[value] for value in settings[name]])
        interactions: list[Interaction] = effects(settings, places(metric))[1]
        wrong += bool(reported(settings, metric) or interactions)
    assert wrong <= 5


def test_a_crossing_of_effects_is_no_combination() -> None:
    rng = np.random.default_rng(0)
    settings = folder(rng)
    crossed = having(settings, sampler="balanced", ema="True") + having(
        settings, sampler="uniform", ema="False"
    )
    metric = 0.84 - 0.05 * crossed + rng.normal(0, 0.008, 60)
    assert reported(settings, metric) == []
    assert [set(one.settings) for one in effects(settings, places(metric))[1]] == [{"sampler", "ema"}]


def test_few_runs_in_a_cell_are_not_enough() -> None:
    rng = np.random.default_rng(0)
    settings = folder(rng)
    settings["sampler"] = ["balanced" if at < 8 else "uniform" for at in range(60)]
    settings["ema"] = [str(at < 2 or (at % 2 == 0 and at >= 8)) for at in range(60)]
    both = having(settings, sampler="balanced", ema="True")
    assert both.sum() == 2
    found = reported(settings, 0.84 - 0.2 * both + rng.normal(0, 0.008, 60))
    assert {"sampler", "ema"} not in [set(one.settings) for one in found]


def test_an_effect_that_is_the_combinations_vanishes_and_a_real_one_stays() -> None:
    rng = np.random.default_rng(5)
    settings = folder(rng, 90)
    both = having(settings, sampler="balanced", ema="True")
    # Most runs of the combination have no warmup, and dropout costs something everywhere.
    settings["warmup"] = ["0" if rng.random() < 0.25 + 0.65 * one else "500" for one in both]
    metric = 0.84 - 0.05 * both - 0.02 * having(settings, dropout="0.2") + rng.normal(0, 0.006, 90)
    factors, order = factors_of(settings, 90), places(metric)
    found = combinations(factors, metric, order)
    measured = {
        one.setting: one for one in in_units(effects(settings, order)[0], factors, metric, order, found)
    }
    assert {name for name, one in measured.items() if one.vanishes} >= {"sampler", "ema", "warmup"}
    assert not measured["dropout"].vanishes
    rest = measured["dropout"].elsewhere
    assert rest is not None
    assert rest.difference == pytest.approx(-0.02, abs=0.006)


@pytest.fixture(scope="module")
def sweep_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """48 runs with a settings file and a log each."""
    rng = np.random.default_rng(11)
    path = tmp_path_factory.mktemp("sweep")
    for number in range(48):
        balanced, ema = number % 2 == 0, number // 2 % 2 == 0
        harmed = balanced and ema
        config = {
            "lr": float(rng.choice([3e-4, 1e-3])),
            "warmup": 0 if rng.random() < (0.9 if harmed else 0.3) else 500,
            "sampler": "balanced" if balanced else "uniform",
            "ema": ema,
            "seed": number,
        }
        end = 0.84 - 0.05 * harmed + rng.normal(0, 0.005)
        rows = [
            f"{epoch},{end - 0.5 * np.exp(-epoch / 3) + rng.normal(0, 0.002):.4f}" for epoch in range(1, 31)
        ]
        run = path / f"run_{number:02d}"
        run.mkdir()
        (run / "config.json").write_text(json.dumps(config), encoding="utf-8")
        (run / "metrics.csv").write_text("\n".join(["epoch,val_acc", *rows]) + "\n", encoding="utf-8")
    return path


def test_a_folder_of_runs_says_which_combination_hurts(sweep_folder: Path) -> None:
    result = CliRunner(env={"COLUMNS": "100"}).invoke(cli, ["compare", str(sweep_folder)])
    assert result.exit_code == 0, result.output
    text = " ".join(result.output.replace("- ", "").split())
    assert re.search(
        r"What hurts: sampler=balanced together with ema=True, 0\.0[45]\d* lower on average", text
    )
    assert "12 against 36 runs, no overlap; neither does anything alone" in text
    assert "sampler: vanishes once the combination is accounted for (confounded)" in text
    assert "warmup: vanishes" in text or "0 only looks" in text
    assert "Do not combine sampler=balanced with ema=True" in text


def test_json_and_markdown_have_the_combination(sweep_folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "sweep.md"
    result = CliRunner().invoke(cli, ["compare", str(sweep_folder), "--json", "--md", str(page)])
    assert result.exit_code == 0, result.output
    swept = json.loads(result.stdout)["sweep"]
    (found,) = swept["combinations"]
    assert found["conditions"] == ["sampler=balanced", "ema=True"]
    assert found["contrast"]["difference"] == pytest.approx(-0.05, abs=0.01)
    assert found["contrast"]["overlap"] == 0
    assert found["only_together"] is True
    assert found["runs"] == [number for number in range(48) if number % 4 == 0]
    assert {"share", "places", "contrast", "elsewhere", "vanishes"} <= set(swept["effects"][0])
    assert "sampler=balanced together with ema=True" in page.read_text(encoding="utf-8")
