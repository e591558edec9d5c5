"""Made-up series for the tests of `traindx.evidence.stats`: noise of many kinds, and what it may lie upon."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import scipy.signal

Array = npt.NDArray[np.float64]
Rng = np.random.Generator
SHORT = [np.empty(0), np.ones(1), np.ones(2), np.ones(3)]


def draw(seed: int, size: int) -> Array:
    """Standard normal values."""
    return np.random.default_rng(seed).standard_normal(size)


def ramp(size: int) -> Array:
    """0, 1, 2, ..."""
    return np.arange(size, dtype=np.float64)


def remembering(rng: Rng, size: int, memory: float) -> Array:
    """Autoregressive noise, settled; memory 1 is a random walk."""
    if memory == 1.0:
        return np.cumsum(rng.standard_normal(size))
    settled: Array = scipy.signal.lfilter([1.0], [1.0, -memory], rng.standard_normal(size + 300))[300:]
    return settled


def falling(size: int) -> Array:
    """A loss that falls from 2.3 to 0.3 in a few time constants."""
    return 0.3 + 2 * np.exp(-6 * ramp(size) / size)


def spiky(size: int, at: list[int], factor: float, noise: float = 0.03, seed: int = 22) -> Array:
    """A falling loss whose values at some places are multiplied."""
    values = falling(size) * np.exp(noise * draw(seed, size))
    values[at] *= factor
    return values


Kind = Callable[[Rng, int], Array]

# Independent noise around one level.
WHITE: dict[str, Kind] = {
    "gaussian": lambda r, n: r.standard_normal(n),
    "student-t(4)": lambda r, n: r.standard_t(4, n),
    "lognormal(0.5)": lambda r, n: np.exp(0.5 * r.standard_normal(n)),
    "exponential": lambda r, n: r.exponential(1.0, n),
    "rounded": lambda r, n: np.round(r.standard_normal(n)),
}

# Noise with memory.
MEMORY: dict[str, Kind] = {
    "AR(0.5)": lambda r, n: remembering(r, n, 0.5),
    "AR(0.9)": lambda r, n: remembering(r, n, 0.9),
    "random walk": lambda r, n: remembering(r, n, 1.0),
    "wandering under noise": lambda r, n: remembering(r, n, 0.9) + 2 * r.standard_normal(n),
}

# Kinds on which nothing was tuned.
UNSEEN: dict[str, Kind] = {
    "Laplace": lambda r, n: r.laplace(size=n),
    "Gumbel": lambda r, n: r.gumbel(size=n),
    "chi-squared(3)": lambda r, n: r.chisquare(3, n),
    "student-t(3)": lambda r, n: r.standard_t(3, n),
    "1 in 20 three times as wide": lambda r, n: r.standard_normal(n) * np.where(r.random(n) < 0.05, 3, 1),
    "AR(0.7)": lambda r, n: remembering(r, n, 0.7),
    "mean of 10": lambda r, n: np.convolve(r.standard_normal(n + 9), np.ones(10) / 10, "valid"),
}

# Losses without a spike.
SPIKELESS: dict[str, Kind] = {
    "gaussian": lambda r, n: 5 + r.standard_normal(n),
    "gaussian around 0": lambda r, n: r.standard_normal(n),
    "lognormal(0.5)": lambda r, n: np.exp(0.5 * r.standard_normal(n)),
    "lognormal(1)": lambda r, n: np.exp(r.standard_normal(n)),
    "gamma(2)": lambda r, n: r.gamma(2.0, 1.0, n),
    "exponential - 1": lambda r, n: r.exponential(1.0, n) - 1,
    "log-student-t(4)": lambda r, n: np.exp(0.2 * r.standard_t(4, n)),
    "student-t(4)": lambda r, n: r.standard_t(4, n),
    "falling, lognormal": lambda r, n: falling(n) * np.exp(0.2 * r.standard_normal(n)),
    "falling, constant noise": lambda r, n: np.abs(falling(n) + 0.05 * r.standard_normal(n)) + 1e-3,
    "falling, growing noise": lambda r, n: (
        falling(n) * np.exp((0.02 + ramp(n) / n / 2) * r.standard_normal(n))
    ),
    "steep start": lambda r, n: 0.05 + 10 * np.exp(-100 * ramp(n) / n) * np.exp(0.1 * r.standard_normal(n)),
    "noise grows 8 times at once": lambda r, n: np.exp(
        np.where(ramp(n) < n / 2, 0.05, 0.4) * r.standard_normal(n)
    ),
    "log-AR(0.9)": lambda r, n: np.exp(0.2 * remembering(r, n, 0.9)),
    "log-random walk": lambda r, n: np.exp(0.05 * remembering(r, n, 1.0)),
    "swinging": lambda r, n: 1.5 + np.sin(2 * np.pi * 8 * ramp(n) / n) + 0.05 * r.standard_normal(n),
}

# Curves that do not swing, however they go.
STILL: dict[str, Kind] = {
    "falling": lambda r, n: falling(n) + 0.05 * r.standard_normal(n),
    "falling, lognormal": lambda r, n: falling(n) * np.exp(0.1 * r.standard_normal(n)),
    "power law": lambda r, n: 0.1 + 4 * (1 + ramp(n)) ** -0.5 + 0.02 * r.standard_normal(n),
    "line": lambda r, n: -ramp(n) / n + 0.01 * r.standard_normal(n),
    "valley": lambda r, n: (ramp(n) / n - 0.4) ** 2 + 0.01 * r.standard_normal(n),
    "step": lambda r, n: (ramp(n) > 0.6 * n) + 0.05 * r.standard_normal(n),
    "staircase": lambda r, n: np.floor(4 * ramp(n) / n) + 0.05 * r.standard_normal(n),
    "one spike": lambda r, n: r.standard_normal(n) + 20.0 * (ramp(n) == n // 2),
}


def share(test: Callable[[Array], bool], kind: Kind, size: int, series: int, seed: int = 0) -> float:
    """In what share of so many series the test says yes."""
    rng = np.random.default_rng([seed, size])
    return float(np.mean([test(kind(rng, size)) for _ in range(series)]))


def most(rate: float, series: int) -> float:
    """The share a true rate may show in so many series, three standard deviations of luck included."""
    return rate + 3 * math.sqrt(rate * (1 - rate) / series)


def with_noise(clean: Callable[[Array], Array], size: float) -> Kind:
    """A course over 0 to 1 with Gaussian noise."""
    return lambda r, n: clean(ramp(n) / n) + size * r.standard_normal(n)
