"""How often trends, changes, shifts and decays are told falsely and truly: simulated series.

The docstrings hold the measured rates; the bounds leave room for chance.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from tests.noises import (
    MEMORY,
    WHITE,
    Array,
    most,
    ramp,
    share,
    with_noise,
)
from traindx.evidence import stats

# Trend


def trending(level: float) -> Callable[[Array], bool]:
    return lambda y: stats.trend(ramp(y.size), y).p < level


@pytest.mark.parametrize("size", [10, 30, 150])
@pytest.mark.parametrize("kind", ["gaussian", "student-t(4)", "exponential", *MEMORY])
def test_trend_without_a_trend(kind: str, size: int) -> None:
    """Trend told at p < 0.05, of 250 series each of 10, 30 and 150 points.

    gaussian: 0.012 0.024 0.028; student-t(4): 0.032 0.032 0.044; exponential: 0.016 0.020 0.024;
    AR(0.5): 0.016 0.040 0.036; AR(0.9): 0.068 0.044 0.036; random walk: 0.088 0.084 0.112;
    wandering under noise: 0.032 0.252 0.124.
    """
    rate = share(trending(0.05), (WHITE | MEMORY)[kind], size, 250)
    print(f"trend | {kind} | {size} | {rate:.3f}")
    assert rate <= most(
        {"AR(0.9)": 0.08, "random walk": 0.11, "wandering under noise": 0.2}.get(kind, 0.05), 250
    )


@pytest.mark.parametrize("size", [12, 30, 150])
@pytest.mark.parametrize("form", ["line", "exponential"])
def test_trend_where_there_is_one(form: str, size: int) -> None:
    """Trend told at p < 0.01 for a fall of 1 with noise 0.05, of 100 series each of 12, 30 and 150 points.

    line: 0.75 0.99 1.00; exponential: 0.43 0.97 1.00.
    """
    clean = {"line": lambda u: 1 - u, "exponential": lambda u: np.exp(-5 * u)}[form]
    rate = share(trending(0.01), with_noise(clean, 0.05), size, 100)
    print(f"trend power | {form} | {size} | {rate:.2f}")
    assert rate >= {12: 0.3, 30: 0.85, 150: 0.97}[size]


# Change points


def changing(y: Array) -> bool:
    return bool(stats.change_points(y))


@pytest.mark.parametrize("size", [10, 50, 200, 2000])
@pytest.mark.parametrize("kind", [*WHITE, "AR(0.5)", "AR(0.9)", "wandering under noise"])
def test_change_points_without_a_change(kind: str, size: int) -> None:
    """Series with any change point, of 150 (50 of the longest) each of 10, 50, 200 and 2,000 points.

    student-t(4): 0.007 0.000 0.007 0.000; lognormal(0.5): 0.013 0.007 0.007 0.000;
    exponential: 0.027 0.020 0.007 0.000; AR(0.5): 0.027 0.040 0.000 0.000;
    AR(0.9): 0.147 0.080 0.020 0.000; wandering under noise: 0.020 0.127 0.247 0.000;
    0 throughout: gaussian, rounded.
    """
    rate = share(changing, (WHITE | MEMORY)[kind], size, 150 if size < 2000 else 50)
    print(f"change | {kind} | {size} | {rate:.3f}")
    assert rate <= {"AR(0.9)": 0.25, "wandering under noise": 0.3}.get(kind, 0.05)


@pytest.mark.parametrize(("jump", "size", "least"), [(3.0, 30, 0.7), (3.0, 100, 0.97), (1.0, 300, 0.95)])
def test_change_points_where_the_level_jumps(jump: float, size: int, least: float) -> None:
    """Series in which exactly the one jump in the middle was found, of 100 each.

    jump 3.0 of 30 points: 0.77; jump 3.0 of 100 points: 1.00; jump 1.0 of 300 points: 1.00.
    """

    def found(y: Array) -> bool:
        points = stats.change_points(y)
        return len(points) == 1 and abs(points[0] - size // 2) <= max(3, size // 12)

    rate = share(found, with_noise(lambda u: jump * (u >= 0.5), 1.0), size, 100)
    print(f"change power | {jump} | {size} | {rate:.2f}")
    assert rate >= least


# Shift between two stretches


@pytest.mark.parametrize("size", [3, 10, 50])
@pytest.mark.parametrize("kind", [*WHITE, *MEMORY])
def test_rise_without_one(kind: str, size: int) -> None:
    """A shift told at |z| > 3 between two stretches of 3, 10 and 50 points, of 400 series each.

    gaussian: 0.003 0.000 0.005; student-t(4): 0.003 0.000 0.000; lognormal(0.5): 0.003 0.000 0.003;
    exponential: 0.003 0.000 0.003; rounded: 0.005 0.000 0.000; AR(0.5): 0.005 0.013 0.000;
    AR(0.9): 0.013 0.028 0.005; random walk: 0.007 0.028 0.020; wandering under noise: 0.003 0.025 0.030.
    """
    rate = share(
        lambda y: abs(stats.significant_rise(y[:size], y[size:])) > 3, (WHITE | MEMORY)[kind], 2 * size, 400
    )
    print(f"rise | {kind} | {size} | {rate:.3f}")
    assert rate <= most(0.04 if kind in MEMORY else 0.006, 400)


@pytest.mark.parametrize(("shift", "size", "least"), [(3.0, 10, 0.6), (3.0, 30, 0.97), (1.0, 100, 0.9)])
def test_rise_where_there_is_one(shift: float, size: int, least: float) -> None:
    """A shift told at z > 3, of 200 series each.

    shift 3.0 of 10 points: 0.82; shift 3.0 of 30 points: 0.99; shift 1.0 of 100 points: 0.95.
    """
    rate = share(
        lambda y: stats.significant_rise(y[:size], y[size:]) > 3,
        with_noise(lambda u: shift * (u >= 0.5), 1.0),
        2 * size,
        200,
    )
    print(f"rise power | {shift} | {size} | {rate:.2f}")
    assert rate >= least


# Decay

DECAYS: dict[str, Callable[[Array], Array]] = {
    "exponential": lambda u: 1 + 2 * np.exp(-5 * u),
    "two exponentials": lambda u: 1 + np.exp(-3 * u) + np.exp(-30 * u),
    "power law 0.7": lambda u: 1 + 2 * (1 + u / 0.01) ** -0.7,
    "power law 0.4": lambda u: 1 + 2 * (1 + u / 0.02) ** -0.4,
    "power law 1.2": lambda u: 1 + 2 * (1 + u / 0.05) ** -1.2,
}


@pytest.mark.parametrize("noise", [0.02, 0.1])
@pytest.mark.parametrize("size", [40, 200, 2000])
@pytest.mark.parametrize("form", DECAYS)
def test_decay_covers_the_asymptote(form: str, size: int, noise: float) -> None:
    """Curves whose 90 % interval holds the true asymptote, of 24 each of 40, 200 and 2,000 points.

    exponential, noise 0.02: 0.96 1.00 1.00; exponential, noise 0.1: 1.00 0.92 1.00;
    two exponentials, noise 0.02: 1.00 1.00 1.00; two exponentials, noise 0.1: 0.96 0.92 1.00;
    power law 0.7, noise 0.02: 1.00 1.00 1.00; power law 0.7, noise 0.1: 0.96 0.92 0.92;
    power law 0.4, noise 0.02: 0.96 1.00 1.00; power law 0.4, noise 0.1: 1.00 0.88 0.92;
    power law 1.2, noise 0.02: 1.00 1.00 1.00; power law 1.2, noise 0.1: 0.96 0.83 0.83.
    """
    rng = np.random.default_rng(size)
    held = []
    for _ in range(24):
        found = stats.decay(ramp(size), with_noise(DECAYS[form], noise)(rng, size))
        held.append(found is not None and found.low <= 1 <= found.high)
    print(f"decay | {form} | {noise} | {size} | {np.mean(held):.2f}")
    assert np.mean(held) >= 0.7


@pytest.mark.parametrize("size", [15, 60, 300])
@pytest.mark.parametrize("kind", ["gaussian", "student-t(4)", "AR(0.9)", "random walk"])
def test_noise_is_no_decay(kind: str, size: int) -> None:
    """Series taken for a decay, of 200 (60 of the longest) each of 15, 60 and 300 points.

    student-t(4): 0.010 0.000 0.000; AR(0.9): 0.040 0.000 0.000; random walk: 0.075 0.005 0.017;
    0 throughout: gaussian.
    """
    series = 200 if size < 300 else 60
    rate = share(lambda y: stats.decay(ramp(y.size), y) is not None, (WHITE | MEMORY)[kind], size, series)
    print(f"no decay | {kind} | {size} | {rate:.3f}")
    assert rate <= most({"random walk": 0.08, "AR(0.9)": 0.04}.get(kind, 0.01), series)
