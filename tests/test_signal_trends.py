"""Trends, change points and turns against scipy and slow obvious versions."""

from __future__ import annotations

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats

from tests.noises import SHORT, Array, draw, ramp
from traindx.evidence import stats as signal
from traindx.evidence.stats import changes, scale, trends

# Trend


@pytest.mark.parametrize("size", [3, 4, 10, 57, 300])
def test_slope_is_theil_and_sens(size: int) -> None:
    steps, values = np.sort(np.random.default_rng(1).uniform(0, 1e5, size)), draw(16, size)
    found = signal.trend(steps, values)
    assert found.slope == pytest.approx(float(scipy.stats.theilslopes(values, steps)[0]), rel=1e-9)
    assert found.change == pytest.approx(found.slope * (steps[-1] - steps[0]), rel=1e-9)
    assert found.low <= found.slope <= found.high


@pytest.mark.parametrize("rounded", [0, 1])
def test_variance_of_the_score_is_kendalls(rounded: int) -> None:
    steps, values = ramp(80), draw(17, 80) + ramp(80) / 60
    if rounded:
        steps, values = np.floor(steps / 3), np.round(values)
    pairs = [(values[j] - values[i]) * (steps[j] - steps[i]) for i, j in combinations(range(80), 2)]
    z = float(np.sign(pairs).sum()) / math.sqrt(trends._variance(steps, values))
    p = scipy.stats.kendalltau(steps, values, method="asymptotic").pvalue
    assert scale.two_sided(z) == pytest.approx(p, rel=1e-6)


def test_interval_is_that_of_independent_noise_when_there_is_no_memory() -> None:
    values = 0.05 * ramp(200) + draw(18, 200)
    found = signal.trend(ramp(200), values)
    _, _, low, high = scipy.stats.theilslopes(values, ramp(200), alpha=0.95)
    assert found.high - found.low == pytest.approx(high - low, rel=0.35)
    assert found.low < 0.05 < found.high


@pytest.mark.parametrize("size", [6, 12, 40, 150])
def test_odds_of_a_smooth_walk_are_not_understated(size: int) -> None:
    """Of 3,000 random walks, at most as many as told look so much like a shape (three deviations off)."""
    walks = np.cumsum(draw(19, 3000 * size).reshape(3000, size), axis=1)
    told = []
    for walk in walks:
        course = trends._best_course(ramp(size), walk)
        told.append(scale.two_sided(trends._walk_z(course.unexplained, size)) if course.one_way else 1.0)
    for p in (0.1, 0.02):
        assert np.mean(np.array(told) < p) < p + 3 * math.sqrt(p / 3000)


@pytest.mark.parametrize("size", [60, 400])
def test_a_valley_has_no_trend_however_smooth(size: int) -> None:
    found = signal.trend(ramp(size), (ramp(size) / size - 0.5) ** 2 + 1e-4 * draw(20, size))
    assert found.p > 0.05


@pytest.mark.parametrize("size", [12, 50, 300, 5000])
@pytest.mark.parametrize("form", ["line", "exponential", "power"])
def test_a_clear_fall_is_one(size: int, form: str) -> None:
    u = ramp(size) / size
    clean = {"line": 1 - u, "exponential": np.exp(-5 * u), "power": (1 + ramp(size)) ** -0.5}[form]
    found = signal.trend(ramp(size), clean)
    assert found.p < 0.01
    assert found.z < 0
    assert found.change < 0
    assert found.high <= 0


def test_trend_of_little() -> None:
    for values in SHORT[:3]:
        found = signal.trend(ramp(values.size), values)
        assert math.isnan(found.slope)
        assert found.p == 1.0
    flat = signal.trend(ramp(50), np.ones(50))
    assert (flat.slope, flat.p, flat.change) == (0.0, 1.0, 0.0)
    assert math.isnan(signal.trend(np.zeros(9), ramp(9)).slope)


# Changes


def slow_partition(y: Array, price: float) -> tuple[float, list[int]]:
    """All ways to cut into segments of two points or more."""
    best = (math.inf, [0])
    inner = range(2, y.size - 1)
    for count in range(y.size // 2):
        for cuts in combinations(inner, count):
            edges = [0, *cuts, y.size]
            if min(b - a for a, b in pairwise(edges)) < 2:
                continue
            cost = sum(float(((y[a:b] - y[a:b].mean()) ** 2).sum()) for a, b in pairwise(edges))
            best = min(best, (cost + price * count, list(cuts)))
    return best


@pytest.mark.parametrize("seed", range(8))
def test_partition_is_the_best_of_all(seed: int) -> None:
    y = draw(seed, 10) + 3.0 * (ramp(10) > 4) - 4.0 * (ramp(10) > 7)
    assert changes._partition(y, 2.0) == slow_partition(y, 2.0)[1]


@pytest.mark.parametrize("size", [60, 300, 5000])
def test_change_points_stand_where_the_level_changes(size: int) -> None:
    first, second = size * 3 // 10, size * 6 // 10
    values = draw(21, size) + 10.0 * (ramp(size) >= first) - 6.0 * (ramp(size) >= second)
    found = signal.change_points(values)
    assert len(found) == 2
    assert abs(found[0] - first) <= 1 + size // 300
    assert abs(found[1] - second) <= 1 + size // 300


def test_change_points_of_exact_levels_and_of_little() -> None:
    assert signal.change_points((ramp(40) >= 25).astype(np.float64)) == [25]
    assert [signal.change_points(v) for v in SHORT] == [[]] * 4
    assert signal.change_points(np.ones(100)) == []


def slow_turns(values: list[float], threshold: float) -> list[int]:
    """Where the way back from the extreme since the last turn first exceeds the threshold."""
    turns: list[int] = []
    start, way = 0, 0
    for i in range(len(values)):
        part = values[start : i + 1]
        if way <= 0 and values[i] - min(part) > threshold:
            if way:
                turns.append(start + part.index(min(part)))
            start, way = i, 1
            continue
        if way >= 0 and max(part) - values[i] > threshold:
            if way:
                turns.append(start + part.index(max(part)))
            start, way = i, -1
    return turns


@pytest.mark.parametrize("threshold", [0.0, 0.5, 2.0, 50.0])
@pytest.mark.parametrize("seed", range(5))
def test_monotone_pieces_turn_where_the_slow_version_does(threshold: float, seed: int) -> None:
    values = np.round(np.cumsum(draw(seed, 200)), 1)
    pieces = signal.monotone_pieces(values, threshold=threshold)
    assert [p.start for p in pieces][1:] == slow_turns(values.tolist(), threshold)
    assert [p.end for p in pieces][:-1] == [p.start for p in pieces][1:]
    assert (pieces[0].start, pieces[-1].end) == (0, 199)
    assert all(p.change == values[p.end] - values[p.start] for p in pieces)


def test_monotone_pieces_of_little() -> None:
    assert signal.monotone_pieces(np.empty(0), threshold=1) == []
    assert signal.monotone_pieces(np.ones(1), threshold=1) == []
    assert signal.monotone_pieces(np.ones(5), threshold=1) == [signal.Piece(0, 4, 0.0)]
    falling = signal.monotone_pieces(-ramp(9), threshold=1)
    assert falling == [signal.Piece(0, 8, -8.0)]
