"""Oscillation: swings around the smooth level that chance would not make.

The smooth level is a short sum of curves as trainings draw them. What remains is compared with noise
that may have memory: an oscillation has a peak in its spectrum where noise has at most a slope.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.scale import ROUNDING, back, dot, spread, unit
from traindx.evidence.stats.stretches import bins, course

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_FEWEST = 8
# Widths of the spectral bands that are looked at: pure tones need one, irregular swings more.
_WIDTHS = (1, 2, 4, 8, 16, 64, 256, 1024, 4096)
# The widths overlap: together they are worth about so many independent tries.
_TRIES = 4.0
# A band with less of the power than this is no swing that matters.
_LEAST_SHARE = 0.1


@dataclass(frozen=True)
class Oscillation:
    """Half the height of the swings, their period in points, late over early height, and p."""

    amplitude: float
    period: float
    growth: float
    p: float


@dataclass(frozen=True)
class _Peak:
    """A band of the spectrum: its first and last frequency in cycles, and p."""

    first: int
    last: int
    p: float


_NONE = Oscillation(0.0, 0.0, 1.0, 1.0)


def oscillation(values: FloatArray) -> Oscillation:
    """The most improbable swing around the smooth level; p is against noise with or without memory."""
    if values.size < _FEWEST:
        return _NONE
    scaled, exponent = unit(values)
    residuals = _around_level(scaled)
    size = spread(residuals)
    if size <= 64.0 * ROUNDING:
        return _NONE
    peak = _Spectrum(_evened(residuals)).peak()
    if peak is None:
        return _NONE
    swing = _band(residuals, peak)
    period = 2.0 * residuals.size / (peak.first + peak.last)
    amplitude = math.sqrt(2.0) * _rms(swing)
    third = max(residuals.size // 3, 1)
    early, late = _rms(swing[:third]), _rms(swing[-third:])
    return Oscillation(
        amplitude=back(amplitude, exponent),
        period=period,
        growth=min(late / early, 1e6) if early > ROUNDING else 1.0,
        p=peak.p if _goes_both_ways(scaled, period, amplitude) else 1.0,
    )


def _rms(values: FloatArray) -> float:
    return math.sqrt(dot(values, values) / values.size)


def _around_level(y: FloatArray) -> FloatArray:
    """The values without their smooth level, single far-off points drawn in."""
    rough = course(y, min(max(y.size // 5, 2), 8))
    off = y - rough
    reach = 4.0 * spread(off)
    tame = rough + np.clip(off, -reach, reach)
    u = np.arange(y.size) / y.size
    coarse = bins(u, tame, 200)
    shape = np.linalg.lstsq(_curves(coarse.step, y.size), coarse.median, rcond=None)[0]
    # A thousand places tell a smooth level as well as all points.
    places = u if u.size <= 2000 else np.linspace(0.0, 1.0, 2000)
    residuals: FloatArray = tame - np.interp(u, places, _curves(places, y.size) @ shape)
    residuals -= residuals.mean()
    return residuals


def _curves(u: FloatArray, size: int) -> FloatArray:
    """What a smooth level is made of; fewer parts for fewer points."""
    parts = [np.ones_like(u), u, np.exp(-8.0 * u)][: 2 if size < 12 else 3]
    if size >= 30:
        parts += [u**2, np.exp(-30.0 * u)]
    if size >= 100:
        parts += [u**3, np.exp(-120.0 * u)]
    return np.column_stack(parts)


def _evened(residuals: FloatArray) -> FloatArray:
    """The values over their spread nearby, so that no part of the curve drowns the others."""
    if residuals.size < 60:
        return residuals / max(float(np.abs(residuals).max()), 1e-300)
    edges = np.linspace(0, residuals.size, 7).astype(np.int64)
    # Means, not medians: those of rounded values leap from one quantum to the next.
    sizes = np.add.reduceat(np.abs(residuals), edges[:-1]) / np.diff(edges)
    sizes = np.maximum(sizes, 0.05 * float(sizes.max()))
    around = np.interp(np.arange(residuals.size), (edges[:-1] + edges[1:]) / 2.0, sizes)
    even: FloatArray = residuals / np.maximum(around, 1e-300)
    return np.clip(even, -6.0, 6.0)


class _Spectrum:
    """Power by cycles, with running sums so that any band under any memory is told at once."""

    def __init__(self, even: FloatArray) -> None:
        self.points = even.size
        self.lowest = 2 if even.size < 12 else 3
        power = np.abs(np.fft.rfft(even - even.mean())) ** 2
        power[0] = 0.0
        turn = 2.0 * np.pi * np.arange(power.size) / even.size
        self.size = power.size
        self.power = np.insert(np.cumsum(power), 0, 0.0)
        self.turned = np.insert(np.cumsum(power * np.cos(turn)), 0, 0.0)

    def memory(self, first: int, last: int) -> float:
        """Lag-one autocorrelation of all that swings outside a band, its bias for few points added."""
        whole = self.power[-1] - self.power[last + 1] + self.power[first]
        turned = self.turned[-1] - self.turned[last + 1] + self.turned[first]
        correlation = float(turned / whole) if whole > 0 else 0.0
        correlation = (correlation * self.points + 3.0) / max(self.points - 5.0, 1.0)
        return min(max(correlation, 0.0), 1.0 - 1.0 / self.points)

    def white(self, first: int, end: int, memory: float) -> float:
        """Power from one frequency until before another, over what noise of this memory would have."""
        power = float(self.power[end] - self.power[first])
        turned = float(self.turned[end] - self.turned[first])
        return max((1.0 + memory * memory) * power - 2.0 * memory * turned, 0.0)

    def peak(self) -> _Peak | None:
        """The band least likely to belong to the noise."""
        if self.size - self.lowest < 3 or self.power[-1] <= 0:
            return None
        memory = self.memory(0, 0)
        best = None
        for sums in (self.power, (1.0 + memory * memory) * self.power - 2.0 * memory * self.turned):
            for width in _WIDTHS:
                start = max(self.lowest, 2 * width)
                if start + 2 * width > self.size:
                    break
                first = start + int((sums[start + width :] - sums[start:-width]).argmax())
                peak = _Peak(first, first + width - 1, self.chance(first, width))
                if best is None or peak.p < best.p:
                    best = peak
        return best

    def chance(self, first: int, width: int) -> float:
        """p of a band: against all other frequencies and against those around it."""
        end, remaining = first + width, self.size - 1 - width
        if self.power[end] - self.power[first] < _LEAST_SHARE * self.power[-1]:
            return 1.0
        p = 0.0
        for memory in (0.0, self.memory(max(first - 1, 0), min(end, self.size - 1))):
            share = self.white(first, end, memory) / max(self.white(0, self.size, memory), 1e-300)
            p = max(p, _tail(min(share, 1.0), width, remaining))
            if self.size > 12:
                p = max(p, self._against_neighbours(first, end, memory))
        return min(p * _TRIES * (self.size - 1) / width, 1.0)

    def _against_neighbours(self, first: int, end: int, memory: float) -> float:
        """p of a band against the frequencies around it, and 1 when the lower ones are hardly weaker."""
        middle, width = (first + end - 1) / 2.0, end - first
        low, low_end = max(int(middle / 2.5), 1), max(first - 1, 1)
        high, high_end = min(end + 1, self.size), min(int(2.5 * middle) + 2, self.size)
        band, lower = self.white(first, end, memory), self.white(low, low_end, memory)
        if low_end > low and band / width < 3.0 * lower / (low_end - low):
            return 1.0
        around = lower + self.white(high, high_end, memory)
        return _tail(band / max(band + around, 1e-300), width, low_end - low + high_end - high)


def _tail(share: float, width: int, remaining: int) -> float:
    """Odds that so many of equally strong random frequencies hold this share of the power, or more."""
    if remaining < 1:
        return 1.0
    if share >= 1.0:
        return 0.0
    tries = width + remaining - 1
    logs = [
        math.lgamma(tries + 1)
        - math.lgamma(j + 1)
        - math.lgamma(tries - j + 1)
        + (j * math.log(share) if j else 0.0)
        + (tries - j) * math.log1p(-share)
        for j in range(width)
    ]
    return min(sum(math.exp(log) for log in logs), 1.0)


def _band(residuals: FloatArray, peak: _Peak) -> FloatArray:
    """The part of the values that swings with the frequencies of the peak."""
    waves = np.fft.rfft(residuals)
    waves[: max(int(peak.first / 1.25), 1)] = 0.0
    waves[math.ceil(peak.last * 1.25) + 1 :] = 0.0
    swing: FloatArray = np.fft.irfft(waves, residuals.size)
    return swing


def _goes_both_ways(y: FloatArray, period: float, amplitude: float) -> bool:
    """Whether the curve itself rises and falls again and again; around the smooth level a staircase
    or a single step would seem to."""
    cycles = y.size / period
    quarters = max(int(4.0 * cycles), 4)
    moves = np.diff(bins(np.arange(y.size, dtype=np.float64), y, quarters).median)
    ups, downs = int((moves > 0.5 * amplitude).sum()), int((moves < -0.5 * amplitude).sum())
    return min(ups, downs) >= max(2.0, 0.2 * cycles)
