"""Levels of runs, gains and verdicts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from traindx.experiment.measure import MeasuredLevel, NoSuchMetric, Yardstick, gain, read_level, yardstick
from traindx.experiment.treat.remedy_verdict import Pair, judge
from traindx.testing.sketch import run as sketch

LOSS = Yardstick("loss")
SCORE = Yardstick("val/accuracy", higher=True)


def falling(end: float, steps: int = 300, noise: float = 0.01, seed: int = 0) -> list[float]:
    rng = np.random.default_rng(seed)
    return list(end + (2.0 - end) * np.exp(-np.arange(steps) / 40) + noise * rng.standard_normal(steps))


def level(value: float, error: float = 0.001) -> MeasuredLevel:
    return MeasuredLevel(value, error, 100.0)


def pairs(before: list[float], after: list[float], error: float = 0.001) -> list[Pair]:
    return [
        Pair(n, level(b, error), level(a, error)) for n, (b, a) in enumerate(zip(before, after, strict=True))
    ]


def test_the_end_of_a_noisy_loss_is_its_level_not_its_last_value() -> None:
    values = falling(0.5, noise=0.05)
    values[-1] = 3.0
    found = read_level(sketch({"loss": values}), LOSS)
    assert found is not None
    assert found.value == pytest.approx(0.5, abs=0.03)
    assert 0 < found.error < 0.05


def test_a_run_read_at_a_step_does_not_know_what_came_later() -> None:
    run = sketch({"loss": [*falling(0.5), *[9.0] * 100]})
    early, late = read_level(run, LOSS, 300), read_level(run, LOSS)
    assert early is not None
    assert late is not None
    assert early.value < 0.6
    assert late.value == 9.0


def test_a_run_that_ends_in_nan_stands_nowhere() -> None:
    found = read_level(sketch({"loss": [*falling(0.5, 100), math.nan]}), LOSS)
    assert found is not None
    assert found.value == math.inf
    assert gain(LOSS, found, level(0.5)) == 1.0
    assert gain(LOSS, level(0.5), found) == -1.0
    assert gain(LOSS, found, found) == 0.0


@pytest.mark.parametrize(
    ("before", "after", "word"),
    [
        ([1.0, 1.1, 0.9], [0.5, 0.6, 0.4], "helped"),
        ([0.5, 0.6, 0.4], [1.0, 1.1, 0.9], "hurt"),
        ([1.0, 1.1, 0.9], [1.001, 1.099, 0.902], "no difference"),
        ([1.0, 1.1, 0.9], [0.5, 1.4, 0.7], "cannot tell"),
        ([math.inf, math.inf, math.inf], [0.5, 0.6, 0.4], "helped"),
        ([0.5, 0.5, 0.5], [0.4, math.inf, 0.4], "cannot tell"),
    ],
)
def test_words(before: list[float], after: list[float], word: str) -> None:
    verdict = judge(LOSS, pairs(before, after))
    assert verdict.word == word
    assert verdict.word in verdict.text


def test_a_gain_within_the_noise_of_the_runs_is_none() -> None:
    assert judge(LOSS, pairs([1.0], [0.9], error=0.2)).word == "cannot tell"
    assert judge(LOSS, pairs([1.0], [0.9], error=0.001)).word == "helped"


def test_wild_values_that_fell_to_almost_nothing_fell() -> None:
    pair = Pair(0, MeasuredLevel(180.0, 120.0, 100.0), MeasuredLevel(0.02, 0.01, 100.0))
    assert judge(LOSS, [pair]).word == "helped"


def test_scores_gain_upwards() -> None:
    assert judge(SCORE, pairs([0.5, 0.55], [0.9, 0.92])).word == "helped"
    assert judge(SCORE, pairs([0.9, 0.92], [0.5, 0.55])).word == "hurt"


def test_exact_test_of_three_pairs_cannot_go_below_a_quarter() -> None:
    verdict = judge(LOSS, pairs([1.0, 1.1, 0.9], [0.5, 0.6, 0.4]))
    assert verdict.difference.p == pytest.approx(0.25)
    assert "3 of 3 pairs" in verdict.text


def test_what_is_measured() -> None:
    run = sketch(
        {
            "loss": falling(0.5),
            "val/loss": [1.0, 0.9, 0.8],
            "val/accuracy": [0.1, 0.2, 0.3],
            "step_s": [0.1] * 300,
        }
    )
    assert yardstick(run, ["plateau"]) == Yardstick("val/loss")
    assert yardstick(run, ["slow_training"]) == Yardstick("step_s")
    assert yardstick(run, ["plateau"], other_loss=True) == Yardstick("val/accuracy", higher=True)
    assert yardstick(run, ["plateau"], "val/accuracy") == Yardstick("val/accuracy", higher=True)
    assert yardstick(run, [], held_out=True) == Yardstick("val/loss")
    with pytest.raises(NoSuchMetric, match="val/loss"):
        yardstick(run, ["plateau"], "f1")


def test_a_score_of_validation_comes_before_the_training_loss() -> None:
    run = sketch({"loss": falling(0.5), "val/accuracy": [0.1, 0.2, 0.3]})
    assert yardstick(run, [], held_out=True) == Yardstick("val/accuracy", higher=True)
    assert yardstick(run, ["plateau"]) == Yardstick("loss")
