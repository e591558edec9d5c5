"""The valley through noisy points: against the slow obvious way."""

from __future__ import annotations

import numpy as np
import pytest

from traindx.evidence.stats.valleys import valley


def slow(values: np.ndarray) -> float:
    """The least squared distance, by trying every split and scipy's isotonic regression."""
    from scipy.optimize import isotonic_regression

    best = np.inf
    for split in range(values.size):
        down = isotonic_regression(values[: split + 1], increasing=False).x
        up = isotonic_regression(values[split + 1 :]).x if split + 1 < values.size else np.empty(0)
        best = min(best, float(((np.concatenate([down, up]) - values) ** 2).sum()))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_it_is_the_closest_of_all_that_fall_and_rise(seed: int) -> None:
    rng = np.random.default_rng(seed)
    values = np.abs(np.linspace(-1.0, 1.0, 30) - 0.3) + rng.normal(0.0, 0.3, 30)
    found = valley(values)
    assert float(((found.levels - values) ** 2).sum()) == pytest.approx(slow(values))


def test_it_falls_to_its_bottom_and_rises_from_there() -> None:
    values = np.random.default_rng(1).normal(size=80)
    found = valley(values)
    assert (np.diff(found.levels[: found.last + 1]) <= 1e-12).all()
    assert (np.diff(found.levels[found.first :]) >= -1e-12).all()
    assert found.bottom == found.levels.min()


def test_weights_count_like_repeats() -> None:
    values = np.array([3.0, 1.0, 2.0, 0.5, 4.0])
    repeated = valley(np.repeat(values, [1, 2, 1, 3, 1])).levels
    weighted = valley(values, np.array([1.0, 2.0, 1.0, 3.0, 1.0])).levels
    assert weighted == pytest.approx(repeated[[0, 1, 3, 4, 7]])


def test_one_value_is_a_valley_and_none_is_not() -> None:
    assert valley(np.array([2.0])).bottom == 2.0
    with pytest.raises(ValueError, match="at least one"):
        valley(np.empty(0))
