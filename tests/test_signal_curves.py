"""Spikes, oscillation and decay against scipy and on curves of known make."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.optimize
import scipy.signal
import scipy.stats

from tests.noises import SHORT, Array, draw, ramp, spiky
from traindx.evidence import stats as signal
from traindx.evidence.stats import decays, shapes

# Spikes


@pytest.mark.parametrize("size", [60, 300, 3000, 30000])
def test_spikes_are_where_find_peaks_sees_them(size: int) -> None:
    at = [size // 4, size // 2, size * 4 // 5]
    values = spiky(size, at, 5.0)
    found = signal.spikes(values)
    peaks, _ = scipy.signal.find_peaks(np.log(values), prominence=math.log(3))
    assert [s.peak for s in found] == peaks.tolist() == at
    for s in found:
        assert s.at <= s.peak < s.end
        assert s.recovered
        assert s.ratio == pytest.approx(5.0, rel=0.25)
        assert s.height == pytest.approx(0.8 * values[s.peak], rel=0.2)


def test_a_spike_that_decays_is_one_spike() -> None:
    values = spiky(600, [], 1.0)
    values[300:] *= 1 + 6 * np.exp(-ramp(300) / 10)
    found = signal.spikes(values)
    assert len(found) == 1
    assert found[0].at == 300
    assert 303 < found[0].end < 340
    assert found[0].recovered
    assert found[0].lasting


def test_a_jump_that_stays_has_not_recovered() -> None:
    values = spiky(400, [], 1.0)
    values[300:] *= 8
    found = signal.spikes(values)
    assert [(s.at, s.recovered) for s in found] == [(300, False)]


def test_spikes_of_a_curve_below_zero() -> None:
    values = -5 + 0.1 * draw(23, 300)
    values[200] = 4
    found = signal.spikes(values)
    assert [s.peak for s in found] == [200]
    assert found[0].height == pytest.approx(9, rel=0.05)
    values = 0.1 * draw(24, 300)
    values[200] = 4
    assert [s.peak for s in signal.spikes(values)] == [200]


@pytest.mark.parametrize("factor", [30.0, 1e3])
def test_the_start_of_a_curve_is_no_spike(factor: float) -> None:
    for start in (1, 3, 10):
        values = 1 + factor * np.exp(-ramp(500) / start) + 0.01 * np.abs(draw(25, 500))
        assert signal.spikes(values) == []


def test_rounded_values_have_no_spikes() -> None:
    rare = np.where(np.random.default_rng(0).random(2000) < 0.01, 0.02, 0.01)
    assert signal.spikes(rare) == []
    assert signal.spikes((rare > 0.01).astype(np.float64)) == []
    rare[700] = 0.3
    assert [s.peak for s in signal.spikes(rare)] == [700]


def test_spikes_obey_their_thresholds() -> None:
    values = spiky(500, [250], 3.0)
    assert [s.peak for s in signal.spikes(values)] == [250]
    assert signal.spikes(values, ratio=4.0) == []
    assert signal.spikes(values, k=60.0) == []
    assert [signal.spikes(v) for v in SHORT] == [[]] * 4
    assert signal.spikes(np.ones(200)) == []


# Oscillation


@pytest.mark.parametrize("period", [2.0, 5.0, 12.5, 40.0])
def test_oscillation_finds_what_the_periodogram_shows(period: float) -> None:
    values = 2 + 0.7 * np.cos(2 * np.pi * ramp(400) / period) + 0.2 * draw(26, 400)
    found = signal.oscillation(values)
    frequencies, power = scipy.signal.periodogram(values, detrend="linear")
    assert found.period == pytest.approx(1 / frequencies[power.argmax()], rel=0.1)
    assert found.amplitude == pytest.approx(0.7 if period > 2 else 0.7 * math.sqrt(2), rel=0.2)
    assert found.growth == pytest.approx(1.0, abs=0.3)
    assert found.p < 1e-6


def test_oscillation_that_grows_or_dies() -> None:
    swing = np.cos(2 * np.pi * ramp(300) / 15) * np.exp(ramp(300) / 100)
    assert signal.oscillation(swing + 0.1 * draw(27, 300)).growth > 3
    assert signal.oscillation(swing[::-1] + 0.1 * draw(27, 300)).growth < 1 / 3


def test_oscillation_on_a_falling_loss() -> None:
    values = (0.2 + 2 * np.exp(-8 * ramp(200) / 200)) * np.exp(0.2 * np.sin(ramp(200)) + 0.05 * draw(28, 200))
    found = signal.oscillation(values)
    assert found.p < 1e-3
    assert found.period == pytest.approx(2 * np.pi, rel=0.1)


@pytest.mark.parametrize("count", [3, 6, 12])
def test_a_staircase_does_not_swing(count: int) -> None:
    stairs = -np.floor(ramp(240) / 240 * count) + 0.02 * draw(29, 240)
    assert signal.oscillation(stairs).p > 0.05


def test_oscillation_of_little() -> None:
    assert [signal.oscillation(v).p for v in SHORT] == [1.0] * 4
    assert signal.oscillation(np.ones(100)) == signal.Oscillation(0.0, 0.0, 1.0, 1.0)
    assert signal.oscillation(ramp(100)).p == 1.0


# Decay


@pytest.mark.parametrize("size", [60, 400, 4000])
@pytest.mark.parametrize("rate", [3.0, 8.0])
def test_decay_agrees_with_curve_fit(size: int, rate: float) -> None:
    steps = 7.0 * ramp(size)
    values = 1 + 2 * np.exp(-rate * steps / steps[-1]) + 0.02 * draw(30, size)
    found = signal.decay(steps, values)
    (asymptote, _, fitted), _ = scipy.optimize.curve_fit(
        lambda x, a, b, k: a + b * np.exp(-k * x), steps / steps[-1], values, p0=(0, 1, 1)
    )
    assert found is not None
    assert found.asymptote == pytest.approx(asymptote, abs=0.06)
    assert found.low <= asymptote <= found.high
    assert found.error == pytest.approx(0.02, rel=0.6) or size > 1000
    if found.form == "exponential":
        assert found.rate * steps[-1] == pytest.approx(fitted, rel=0.25)


def test_a_power_law_is_told_from_an_exponential() -> None:
    found = signal.decay(ramp(5000), 1 + 3 * (1 + ramp(5000)) ** -0.5 + 0.01 * draw(31, 5000))
    assert found is not None
    assert found.form == "power"
    assert found.asymptote == pytest.approx(1.0, abs=0.03)
    assert found.rate == pytest.approx(0.5, rel=0.2)


def test_least_squares_of_a_shape_are_numpys() -> None:
    where, y, weight = ramp(30) / 29, draw(32, 30), np.random.default_rng(0).uniform(0.5, 2, 30)
    late, early = np.exp(-2 * where)[None, :], np.exp(-20 * where)[None, :]
    search = shapes.ShapeSearch(where, y, weight, 0.01)
    search.weight = weight
    _, asymptote, amplitude, _, rest = search._fit(late, early)
    columns = np.column_stack([np.ones(30), late[0], early[0]]) * np.sqrt(weight)[:, None]
    slow = np.linalg.lstsq(columns, y * np.sqrt(weight), rcond=None)[0]
    np.testing.assert_allclose([asymptote[0], amplitude[0]], slow[:2], rtol=1e-6)
    expected = y - slow[0] - slow[1] * late[0] - slow[2] * early[0]
    np.testing.assert_allclose(rest[0], expected, atol=1e-9)


NO_DECAYS: dict[str, Callable[[Array], Array]] = {
    "constant": np.ones_like,
    "noise": lambda u: draw(33, u.size),
    "rise": lambda u: u + 0.05 * draw(34, u.size),
    "valley": lambda u: (u - 0.4) ** 2 + 0.01 * draw(35, u.size),
    "fall that rises again": lambda u: 2 * np.exp(-10 * u) + 0.6 * u + 0.02 * draw(36, u.size),
    "ever faster": lambda u: 1 - u**3 + 0.02 * draw(37, u.size),
}


@pytest.mark.parametrize("size", [20, 200, 3000])
@pytest.mark.parametrize("kind", NO_DECAYS)
def test_what_is_no_decay(kind: str, size: int) -> None:
    assert signal.decay(ramp(size), NO_DECAYS[kind](ramp(size) / size)) is None


def test_decay_of_little() -> None:
    assert [signal.decay(ramp(v.size), v) for v in SHORT] == [None] * 4
    assert signal.decay(np.zeros(50), -ramp(50)) is None


def test_time_to_is_when_the_curve_arrives() -> None:
    values = 1 + 2 * np.exp(-4 * ramp(300) / 300) + 0.01 * draw(38, 300)
    found = signal.decay(ramp(300), values)
    assert found is not None
    told = signal.time_to(found, 299.0, 1.02)
    assert told is not None
    assert told[1] <= told[0] <= told[2]
    assert told[0] == pytest.approx(300 / 4 * math.log(100) - 299, rel=0.5)
    assert found.at(299 + told[0]) == pytest.approx(1.02, abs=1e-6)
    assert signal.time_to(found, 299.0, 2.0) == (0.0, 0.0, 0.0)
    assert signal.time_to(found, 299.0, 0.5) == (math.inf, math.inf, math.inf)
    assert signal.time_to(found, math.nan, 1.5) is None


@pytest.mark.parametrize("form", ["exponential", "power"])
def test_reach_undoes_at(form: str) -> None:
    fit = decays.Fit(1.0, 2.0, 0.7, "power" if form == "power" else "exponential", 50.0, 300.0)
    for step in (50.0, 100.0, 5000.0):
        assert fit.reach(fit.at(step)) == pytest.approx(step, rel=1e-6)
