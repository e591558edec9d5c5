"""The statistics of level and noise, against slow obvious versions and scipy, and all on wild input."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.noises import SHORT, Array, draw, ramp, spiky
from traindx.evidence import stats as signal
from traindx.evidence.stats import levels, scale, swings, tails

SCALES = [1e-300, 1e-30, 1.0, 1e26, 1e300]


# Building blocks


@pytest.mark.parametrize("t", [0.3, 1.0, 2.5, 6.0, -3.0])
@pytest.mark.parametrize("freedom", [2, 5, 20, 200])
def test_z_from_t_is_as_improbable(t: float, freedom: int) -> None:
    told = scale.two_sided(scale.normal_from_t(t, freedom))
    assert told == pytest.approx(2 * scipy.stats.t.sf(abs(t), freedom), rel=0.25)


@pytest.mark.parametrize("z", [0.0, 1.0, 1.96, 8.0, -3.0])
def test_two_sided_is_the_normal_tail(z: float) -> None:
    assert scale.two_sided(z) == pytest.approx(2 * scipy.stats.norm.sf(abs(z)), rel=1e-9)


@pytest.mark.parametrize(
    ("share", "width", "others"), [(0.1, 1, 30), (0.4, 2, 20), (0.7, 4, 5), (0.2, 16, 99)]
)
def test_share_of_power_follows_the_beta_distribution(share: float, width: int, others: int) -> None:
    assert swings._tail(share, width, others) == pytest.approx(scipy.stats.beta.sf(share, width, others))


def test_spread_is_the_scaled_median_absolute_deviation() -> None:
    values = draw(0, 501)
    expected = scipy.stats.median_abs_deviation(
        values, center=lambda v, axis: 0.0 * v.sum(axis), scale="normal"
    )
    assert scale.spread(values) == pytest.approx(float(expected))


def test_tail_weight_is_hills() -> None:
    values = np.abs(np.random.default_rng(0).standard_t(4, 5000))
    ranked = np.sort(values)[::-1]
    slow = sum(math.log(v / ranked[100]) for v in ranked[:100]) / 100
    assert tails._weight(values) == pytest.approx(slow)


# Noise and level


def test_noise_is_the_spread_of_bends() -> None:
    values = draw(1, 400) + 0.3 * ramp(400)
    bends = [values[i] - 2 * values[i + 1] + values[i + 2] for i in range(398)]
    slow = scipy.stats.norm.ppf(0.75) ** -1 * float(np.median(np.abs(bends))) / math.sqrt(6)
    assert signal.noise(values) == pytest.approx(slow, rel=1e-6)
    assert signal.noise(values) == pytest.approx(1.0, rel=0.15)


@pytest.mark.parametrize("size", [60, 1000])
def test_noise_does_not_see_trends_steps_or_spikes(size: int) -> None:
    values = 0.1 * draw(2, size) + 5 * np.exp(-4 * ramp(size) / size) + 3.0 * (ramp(size) > size / 2)
    values[:: size // 3] += 40
    assert signal.noise(values) == pytest.approx(0.1, rel=0.5)


@pytest.mark.parametrize("quantum", [0.01, 0.5, 1.0, 2.0, 3.0])
def test_noise_of_rounded_values(quantum: float) -> None:
    values = np.round(draw(3, 4000) / quantum) * quantum
    assert 0.4 * values.std() < signal.noise(values) < 1.6 * values.std()


def test_noise_of_little_or_nothing() -> None:
    assert [signal.noise(v) for v in SHORT] == [0.0] * 4
    assert signal.noise(np.array([1.0, 2.0, 1.0])) > 0
    assert signal.noise(0.1 * ramp(50)) == 0.0


@pytest.mark.parametrize("size", [3, 10, 100])
def test_autocorrelation_is_that_of_the_residuals(size: int) -> None:
    values = np.cumsum(draw(4, size)) + 7 * ramp(size)
    place = ramp(size)
    rest = values - np.polyval(np.polyfit(place, values, 1), place)
    slow = sum(rest[i] * rest[i + 1] for i in range(size - 1)) / sum(r * r for r in rest)
    assert signal.autocorrelation(values) == pytest.approx(slow, abs=1e-9)


def test_autocorrelation_of_a_line_and_of_few_points_is_nothing() -> None:
    assert [signal.autocorrelation(v) for v in SHORT] == [0.0] * 4
    assert signal.autocorrelation(3 * ramp(30) + 1) == 0.0


@pytest.mark.parametrize("size", [10, 101, 1000])
def test_level_is_the_median_with_its_error(size: int) -> None:
    errors, medians = [], []
    for seed in range(200):
        middle, error = signal.level(draw(seed, size) + 5)
        assert middle == np.median(draw(seed, size) + 5)
        medians.append(middle)
        errors.append(error)
    assert np.std(medians) == pytest.approx(float(np.median(errors)), rel=0.35)


def test_level_of_little() -> None:
    middle, error = signal.level(np.empty(0))
    assert math.isnan(middle)
    assert error == math.inf
    assert signal.level(np.array([3.0])) == (3.0, math.inf)
    assert signal.level(np.full(9, 3.0)) == (3.0, 0.0)


def test_a_curve_with_memory_has_a_less_certain_level() -> None:
    white = draw(5, 400)
    walk = scipy.signal.lfilter([1], [1, -0.9], white)
    assert signal.level(walk / walk.std())[1] > 2.5 * signal.level(white)[1]


def test_significant_rise() -> None:
    before, after = draw(6, 40), draw(7, 40) + 2
    up = signal.significant_rise(before, after)
    assert up > 3
    assert signal.significant_rise(after, before) == pytest.approx(-up, rel=0.05)
    assert signal.significant_rise(np.ones(5), np.full(5, 2.0)) == levels.Z_CAP
    assert signal.significant_rise(np.ones(5), np.ones(5)) == 0.0
    assert signal.significant_rise(np.ones(1), np.full(5, 2.0)) == 0.0
    assert signal.significant_rise(np.empty(0), np.empty(0)) == 0.0


def test_significant_rise_ranks_as_a_rank_test_does() -> None:
    """Over shifts of 0 to 2 standard deviations: same order and roughly the same z as Mann-Whitney."""
    ours, theirs = [], []
    for seed in range(40):
        before, after = draw(seed, 60), draw(seed + 100, 60) + seed / 20
        ours.append(signal.significant_rise(before, after))
        p = scipy.stats.mannwhitneyu(before, after, alternative="less").pvalue
        theirs.append(float(scipy.stats.norm.isf(p)))
    assert scipy.stats.spearmanr(ours, theirs).statistic > 0.85


# Any input


anything = st.lists(st.floats(allow_nan=False, allow_infinity=False), max_size=40).map(np.array)
usual = st.lists(st.floats(-10, 10) | st.sampled_from([0.0, 1.0, 1.5, 100.0]), max_size=60).map(np.array)
rounded = st.lists(st.integers(0, 3).map(float), max_size=60).map(np.array)
values = (anything | usual | rounded).map(lambda v: v.astype(np.float64))


def steps_for(size: int, kind: int) -> Array:
    """Even, repeated, or wildly uneven steps."""
    rng = np.random.default_rng(size)
    return [ramp(size), np.floor(ramp(size) / 3), np.sort(10.0 ** rng.uniform(-3, 12, size))][kind]


@settings(max_examples=200)
@given(values, st.integers(0, 2), st.integers(1, 20))
def test_no_input_breaks_anything(y: Array, kind: int, count: int) -> None:
    x = steps_for(y.size, kind)
    assert 0 <= signal.noise(y) < math.inf
    assert -1 <= signal.autocorrelation(y) <= 1
    assert abs(signal.significant_rise(y[: y.size // 2], y[y.size // 2 :])) <= levels.Z_CAP
    middle, error = signal.level(y)
    assert error >= 0
    assert math.isfinite(middle) == (y.size > 0)
    found = signal.bins(x, y, count)
    assert found.n.sum() == y.size
    assert ((found.low <= found.median) & (found.median <= found.high)).all()
    assert signal.thin(x, y, count).size <= max(count, 6)
    assert all(np.isfinite(part).all() for part in signal.align(x, y, x[::3], y[::3]))
    trend = signal.trend(x, y)
    assert 0 <= trend.p <= 1
    assert math.isnan(trend.slope) or trend.low <= trend.slope <= trend.high
    points = signal.change_points(y)
    assert all(b - a >= 2 for a, b in pairwise([0, *points, y.size])) or not points
    for spike in signal.spikes(y):
        assert 0 <= spike.at <= spike.peak <= spike.end < y.size
        assert 0 < spike.height < math.inf
        assert 1 < spike.ratio < math.inf
    swing = signal.oscillation(y)
    assert 0 <= swing.p <= 1
    assert all(0 <= v < math.inf for v in (swing.amplitude, swing.period, swing.growth))
    decay = signal.decay(x, y)
    if decay is not None:
        assert decay.low <= decay.asymptote <= decay.high
        assert all(math.isfinite(v) for v in (decay.low, decay.high, decay.rate, decay.error))
        waits = signal.time_to(decay, float(x[-1]), float(y.min()))
        assert waits is not None
        assert 0 <= waits[1] <= waits[0] <= waits[2]


@pytest.mark.parametrize("factor", SCALES)
@pytest.mark.parametrize("size", [30, 400])
def test_scale_changes_nothing(size: int, factor: float) -> None:
    x, y = ramp(size), spiky(size, [size // 2], 6.0)
    factor = 2.0 ** round(math.log2(factor))
    z = y * factor
    assert signal.noise(z) == signal.noise(y) * factor
    assert signal.level(z) == tuple(v * factor for v in signal.level(y))
    assert signal.change_points(z) == signal.change_points(y)
    assert signal.autocorrelation(z) == signal.autocorrelation(y)
    assert [(s.at, s.peak, s.end, s.recovered) for s in signal.spikes(z)] == [
        (s.at, s.peak, s.end, s.recovered) for s in signal.spikes(y)
    ]
    before, after = signal.trend(x, y), signal.trend(x, z)
    assert (after.p, after.slope) == (before.p, before.slope * factor)
    assert signal.trend(x * factor, y).p == before.p
    assert signal.oscillation(z).p == signal.oscillation(y).p
    one, other = signal.decay(x, y), signal.decay(x, z)
    assert one is not None
    assert other is not None
    assert other.asymptote == pytest.approx(one.asymptote * factor)
    assert signal.significant_rise(z[:10], z[10:]) == signal.significant_rise(y[:10], y[10:])
