"""`traindx compare` from Python: repeats, rulers, confounding, parting, sweeps, odd input."""

from __future__ import annotations

import itertools
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from traindx.comparison.compare import Comparison, TooFew, compare
from traindx.comparison.descent import descent
from traindx.comparison.effects import effects
from traindx.comparison.metric import NothingShared
from traindx.comparison.name_settings import settings_of_names
from traindx.comparison.rates import rate_range, scaling
from traindx.comparison.subjects import subjects
from traindx.core.nouns import Run, Scalar
from traindx.report.comparison_words import verdict
from traindx.testing.sketch import noisy, run


def training(level: float, seed: int = 0, name: str = "", **settings: Scalar) -> Run:
    """A loss that falls to a level; the seed moves the level a little and makes the noise."""
    rng = np.random.default_rng(seed)
    steps = np.arange(300)
    loss = level + rng.normal(0, 0.01) + 2 * np.exp(-steps / 40) + rng.normal(0, 0.02, steps.size)
    made = run(
        {"loss": loss, "val/loss": loss + 0.1}, settings={"optimizer": "sgd", **settings, "seed": seed}
    )
    return replace(made, name=name or f"runs/{level}-{seed}-{settings}", path=f"runs/{level}-{seed}")


def compared(*runs: Run, **options: object) -> Comparison:
    return compare(subjects(runs), **options)  # type: ignore[arg-type]


def test_seeds_are_repeats_and_a_clear_difference_is_sure() -> None:
    told = compared(*(training(level, seed, lr=level) for level in (0.3, 0.6) for seed in range(4)))
    assert [one.runs for one in told.configurations] == [(0, 1, 2, 3), (4, 5, 6, 7)]
    behind = told.ranking[1].behind
    assert behind is not None
    assert told.ranking[1].ruler == "seeds"
    assert behind.low < 0.3 < behind.high
    assert not told.ranking[1].tied
    assert told.leader is not None
    assert told.leader.settings == {"lr": "0.3"}


def test_what_only_noise_separates_is_tied() -> None:
    runs = [training(0.3, seed, lr=rate) for seed, rate in enumerate([0.1, 0.1, 0.1, 0.2, 0.2, 0.2])]
    told = compared(*runs)
    assert told.ranking[1].tied
    assert verdict(told)[0].startswith("No clear difference")


def test_few_false_claims_between_equal_configurations() -> None:
    """Of pairs of configurations that are the same, about one in twenty may be called different."""
    wrong = 0
    for number in range(16):
        seeds = range(10 * number, 10 * number + 8)
        told = compared(*(training(0.3, seed, lr=0.1 if seed % 2 else 0.2) for seed in seeds))
        wrong += not told.ranking[1].tied
    assert wrong <= 3


def test_one_run_each_says_what_it_cannot_know() -> None:
    told = compared(training(0.3, 0, lr=0.1), training(0.6, 0, lr=0.2))
    assert told.ranking[1].ruler == "within"
    assert "another seed" in verdict(told)[0]


def test_higher_is_better_where_it_is() -> None:
    runs = []
    for level, name in ((0.9, "good"), (0.7, "bad")):
        made = run({"val/accuracy": noisy(np.full(50, level), 0.01)})
        runs.append(replace(made, name=name, path=name))
    told = compared(*runs)
    assert told.chosen.goal == "higher"
    assert told.leader is not None
    assert told.leader.name == "good"


def test_only_the_seed_differs() -> None:
    told = compared(training(0.3, 0, lr=0.1), training(0.3, 1, lr=0.1))
    assert told.one_configuration
    assert any(text.startswith("Only the seed differs") for text in told.warnings)


def test_more_than_one_change_is_confounded() -> None:
    one, two = training(0.3, 0, lr=0.1, batch_size=32), training(0.5, 0, lr=0.2, batch_size=64)
    assert any("confounded" in text and "lr, batch_size" in text for text in compared(one, two).warnings)
    alone = compared(training(0.3, 0, lr=0.1, batch_size=32), training(0.5, 0, lr=0.2, batch_size=32))
    assert not any("confounded" in text for text in alone.warnings)


def test_what_follows_from_a_change_is_no_second_change() -> None:
    small = training(0.3, 0, width=32, model_parameters=1000, output_dir="a")
    large = training(0.5, 0, width=64, model_parameters=4000, output_dir="b")
    told = compared(small, large)
    assert [one.key for one in told.differing if one.counts] == ["width"]
    assert not any("confounded" in text for text in told.warnings)


def test_spelling_is_no_difference() -> None:
    told = compared(
        training(0.3, 0, lr="1e-3", optimizer="torch.optim.Adam"),
        training(0.3, 1, lr=0.001, optimizer="adam"),
    )
    assert told.one_configuration


def test_nan_at_the_end_ranks_last() -> None:
    good, bad = training(0.6, 0, lr=0.1), training(0.3, 0, lr=0.2)
    values = bad.series["loss"].values.copy()
    values[200:] = np.nan
    bad = replace(bad, series={**bad.series, "loss": replace(bad.series["loss"], values=values)})
    told = compared(good, bad)
    assert told.configurations[told.ranking[0].configuration].runs == (0,)
    assert not told.ranking[1].final.known
    assert any("NaN or Inf" in text for text in told.warnings)


def test_curves_part_where_they_were_made_to() -> None:
    steps = np.arange(400)
    rng = np.random.default_rng(0)
    base = 0.5 + 2 * np.exp(-steps / 50)
    worse = base + np.where(steps > 200, 0.01 * (steps - 200), 0)
    runs = [
        replace(run({"loss": values + rng.normal(0, 0.02, 400)}, settings={"lr": rate}), name=name, path=name)
        for values, rate, name in ((base, 0.1, "a"), (worse, 0.2, "b"))
    ]
    parting = compared(*runs).parting
    assert parting is not None
    assert parting.step == pytest.approx(205, abs=15)
    same = [
        replace(one, series={"loss": replace(one.series["loss"], values=base + rng.normal(0, 0.02, 400))})
        for one in runs
    ]
    apart = compared(*same).parting
    assert apart is not None
    assert apart.step is None


def test_different_units_are_said_and_the_rest_is_compared() -> None:
    one = training(0.3, 0, lr=0.1)
    other = training(0.5, 0, lr=0.2)
    series = {name: replace(s, axis="epoch") for name, s in other.series.items()}
    told = compared(one, replace(other, axis="epoch", series=series))
    assert told.terms.step is None
    assert any("different units" in text for text in told.warnings)
    assert told.ranking[1].behind is not None


def test_nothing_shared_is_one_line() -> None:
    one = replace(run({"loss": np.ones(5)}), name="a")
    other = replace(run({"reward": np.ones(5)}), name="b")
    with pytest.raises(NothingShared, match="share no metric: a has loss; b has reward"):
        compared(one, other)
    with pytest.raises(NothingShared, match="no two of the runs have a curve 'val/f1'"):
        compared(training(0.3, 0), training(0.5, 1), metric="val/f1")


def test_the_same_run_twice_and_nan_everywhere() -> None:
    one = training(0.3, 0)
    with pytest.raises(TooFew, match="are the same run"):
        compared(one, replace(one, name="copy"))
    idle = compared(
        replace(one, settings={**one.settings, "lr": 0.1}), replace(one, name="b", settings={"lr": 0.2})
    )
    assert any("the change did not reach the training" in text for text in idle.warnings)
    nan = [replace(run({"loss": np.full(20, np.nan)}, settings={"lr": r}), name=str(r)) for r in (0.1, 0.2)]
    with pytest.raises(TooFew, match="NaN or Inf at every point"):
        compared(*nan)


def test_one_point_each_is_ranked_without_certainty() -> None:
    told = compared(
        *(replace(run({"loss": np.array([v])}, settings={"lr": v}), name=str(v)) for v in (0.1, 0.2))
    )
    assert told.ranking[1].ruler == "unknown"
    assert "it is not known whether" in verdict(told)[0]


def sweep_runs() -> list[Run]:
    """The best rate grows with the batch; the momentum does nothing."""
    runs = []
    for number, (rate, batch, momentum, seed) in enumerate(
        itertools.product((1e-3, 1e-2, 1e-1, 1.0), (16, 160), (0.0, 0.9), (0, 1))
    ):
        away = math.log10(rate / (1e-2 * batch / 16))
        level = 0.3 + 0.3 * away**2
        runs.append(training(level, 100 + number, lr=rate, batch_size=batch, momentum=momentum))
        runs[-1] = replace(runs[-1], settings={**runs[-1].settings, "seed": seed}, name=f"sweep/{number}")
    return runs


def test_a_sweep_tells_what_matters() -> None:
    told = compared(*sweep_runs()).sweep
    assert told is not None
    by_name = {effect.setting: effect for effect in told.effects}
    assert by_name["lr"].matters
    assert not by_name["momentum"].matters
    assert [one.settings for one in told.interactions] == [("lr", "batch_size")]
    assert told.scaling is not None
    assert told.scaling.power == pytest.approx(1.0, abs=0.2)


def test_settings_that_change_together_are_said_to() -> None:
    runs = [
        training(0.3 + 0.1 * n, n, lr=10.0**-n, warmup=100 * n, dropout=0.1 * (n % 2)) for n in range(1, 8)
    ]
    told = compared(*runs)
    assert any("lr and warmup always changed together" in text for text in told.warnings)


def test_effects_find_no_effect_in_noise() -> None:
    rng = np.random.default_rng(0)
    found = 0
    for _ in range(12):
        settings = {
            "a": [str(v) for v in rng.integers(0, 3, 40)],
            "b": [str(v) for v in rng.integers(0, 2, 40)],
        }
        told, together = effects(settings, rng.permutation(40) / 39)
        found += sum(effect.matters for effect in told) + len(together)
    assert found <= 4  # 24 effects at one in twenty, and what chance adds


def test_rates_too_low_good_and_too_high() -> None:
    tried = [(1e-4, 1.0), (1e-3, 0.5), (1e-2, 0.3), (3e-2, 0.305), (1e-1, 0.9), (1.0, math.inf)]
    told = rate_range("", tried, 0.01)
    assert told is not None
    assert (told.too_low, told.good, told.too_high) == ((1e-4, 1e-3), (1e-2, 3e-2), (1e-1, 1.0))
    assert told.edge == ""
    assert rate_range("", tried[:3], 0.01).edge == "highest"  # type: ignore[union-attr]


def test_square_root_scaling_is_told_from_linear() -> None:
    rates = np.logspace(-4, 0, 25)
    ranges = {}
    for batch in (16, 64, 256, 1024):
        best = 1e-2 * math.sqrt(batch / 16)
        ranges[float(batch)] = rate_range(
            "", [(r, math.log10(r / best) ** 2) for r in rates.tolist()][::3], 0.001
        )
    told = scaling({batch: one for batch, one in ranges.items() if one is not None})
    assert told is not None
    assert "square-root" in told.verdict


def test_double_descent_over_model_size() -> None:
    sizes = [10, 30, 100, 300, 1000, 3000, 10000]
    errors = [0.5, 0.35, 0.3, 0.45, 0.6, 0.35, 0.25]
    told = descent("width", list(zip(map(float, sizes), errors, strict=True)), 0.01)
    assert told is not None
    assert told.peak == 1000
    falling = descent("width", [(s, 1 / s) for s in map(float, sizes)], 0.01)
    assert falling is not None
    assert falling.peak is None


@pytest.mark.parametrize(
    ("names", "told"),
    [
        (["lr=0.01/a.csv", "lr=0.1/a.csv"], [{"lr": 0.01}, {"lr": 0.1}]),
        (["mlp_lr1e-3_bs64_s1", "mlp_lr1e-2_bs64_s2"], [{"lr": 1e-3, "seed": 1}, {"lr": 1e-2, "seed": 2}]),
        (["version_1/metrics.csv", "version_2/metrics.csv"], [{}, {}]),
        (["adam-3", "sgd-3"], [{"optimizer": "adam"}, {"optimizer": "sgd"}]),
    ],
)
def test_settings_in_names(names: list[str], told: list[dict[str, Scalar]]) -> None:
    assert settings_of_names(names) == told


def test_a_settings_file_beside_the_log_is_read(tmp_path: Path) -> None:
    from traindx.engine import read

    for name, rate in (("a", 0.1), ("b", 0.01)):
        (tmp_path / name).mkdir()
        rows = "".join(f"{n},{rate + 1 / (n + 1)}\n" for n in range(30))
        (tmp_path / name / "log.csv").write_text("step,loss\n" + rows, encoding="utf-8")
        (tmp_path / name / "config.yaml").write_text(f"train:\n  lr: {rate}\n  seed: 1\n", encoding="utf-8")
    told = compare(subjects(read(tmp_path).runs))
    assert [(one.key, one.values) for one in told.differing if one.counts] == [("lr", ("0.1", "0.01"))]


def test_what_a_training_came_to_is_no_setting() -> None:
    one = replace(
        training(0.3, 0, lr=0.1), config={"summary.train_loss": 0.4, "global_step": 300, "eval_loss": 0.5}
    )
    other = replace(
        training(0.5, 0, lr=0.2), config={"summary.train_loss": 0.6, "global_step": 200, "eval_loss": 0.7}
    )
    told = compared(one, other)
    assert [item.key for item in told.differing if item.counts] == ["lr"]


def test_unrelated_runs_are_no_sweep() -> None:
    keys = ("lr", "dropout", "width", "batch_size", "clip", "warmup", "momentum", "layers")
    runs = [training(0.2 + 0.1 * n, n, **{keys[n]: n + 1.0, keys[n - 1]: 0.5}) for n in range(8)]
    told = compared(*runs)
    assert told.sweep is None
    assert any("different trainings" in text for text in told.warnings)
    assert len(told.ranking) == 8
