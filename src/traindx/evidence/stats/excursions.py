"""Spikes: upward excursions that stand out of a robust running band.

A point is compared with the nine before it, so that a falling curve never looks like a spike. The
spread is that of these comparisons themselves nearby, so that slow wandering widens the band.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.scale import ROUNDING, SD_PER_MAD, back, unit
from traindx.evidence.stats.stretches import course, median_of_three
from traindx.evidence.stats.tails import bar, largest_apart

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

# Points before the first one that can be judged.
_BEFORE = 3
# Points whose comparisons give the spread, and the number of places at which it is taken.
_WINDOW, _PLACES = 48, 2000
# How many times the largest ordinary deviation is clear of it: for single points, for longer ones.
_CLEAR_POINT, _CLEAR_LASTING = 2.5, 2.0
# From so many times the required spreads on, no ordinary noise comes into question.
_BEYOND_NOISE = 10.0
# The ratio told where the level before is zero.
_NO_LEVEL = 1e6


@dataclass(frozen=True)
class Spike:
    """First index outside the band, index of the peak, index of the return (or where the search ended).

    `height` is the peak above the level before, `ratio` the peak over that level.
    """

    at: int
    peak: int
    end: int
    height: float
    ratio: float
    recovered: bool

    @property
    def lasting(self) -> bool:
        """Whether it held for three points at least."""
        return self.end - self.at >= 3


def spikes(values: FloatArray, *, k: float = 8.0, ratio: float = 1.5) -> list[Spike]:
    """Excursions more than `k` local spreads and `ratio` times above the level before them.

    Positive curves are judged on a logarithmic scale. An excursion must also stand clear of the curve's
    own largest deviations (a single point of those up and down): heavy-tailed noise has no spikes.
    """
    if values.size <= _BEFORE + 2:
        return []
    scaled, exponent = unit(values)
    positive = bool(scaled.min() > 0)
    y = np.log(scaled) if positive else scaled
    flat = y - course(y, min(max(y.size // 5, 2), max(12, min(y.size // 12, 24))))
    rise = flat - _level_before(flat)
    size = _spread_nearby(rise, y)
    before = _level_shortly_before(y)
    needed = math.log(ratio) if positive else (ratio - 1.0) * np.abs(before)
    outside = (rise > k * size) & (y - before > needed)
    outside[:_BEFORE] = False
    if not outside.any():
        return []
    excursions = []
    for at, peak, end, recovered in _spans(y, y - rise, size, outside):
        base = float(np.exp(y[at] - rise[at])) if positive else float(y[at] - rise[at])
        height = float(scaled[peak]) - base
        # A level of zero gives no ratio: the spread stands in.
        against = max(abs(base), 0.0 if positive else float(size[at]), height / _NO_LEVEL)
        times = min(1.0 + height / against, _NO_LEVEL)
        if times >= ratio or not positive:
            excursions.append(Spike(at, peak, end, height, times, recovered))
    if not excursions:
        return []
    excursions = _beyond_rounding(excursions, scaled)
    excursions = _standing_out(excursions, y, rise, size, k)
    return [replace(s, height=back(s.height, exponent)) for s in excursions]


def _level_before(y: FloatArray) -> FloatArray:
    """For each point the median of three medians of three points before it; of all, where fewer are."""
    before = np.empty_like(y)
    three = median_of_three(y[:-2], y[1:-1], y[2:])
    if y.size > 9:
        before[9:] = median_of_three(three[:-7], three[3:-4], three[6:-1])
    for i in range(min(9, y.size)):
        before[i] = np.median(y[: max(i, 1)])
    return before


def _level_shortly_before(y: FloatArray) -> FloatArray:
    """The lower of the level before and the median of just three points, which lags less in a fall."""
    before = _level_before(y)
    before[3:] = np.minimum(before[3:], median_of_three(y[:-3], y[1:-2], y[2:-1]))
    return before


def _spread_nearby(rise: FloatArray, y: FloatArray) -> FloatArray:
    """For each point the robust spread of the comparisons around it."""
    rises = rise[_BEFORE:]
    width = min(_WINDOW, rises.size)
    hop = -(-rises.size // _PLACES)
    places = np.arange(0, rises.size, hop)
    starts = np.clip(places + hop // 2 - width // 2, 0, rises.size - width)
    windows = np.lib.stride_tricks.sliding_window_view(rises, width)[starts]
    off = np.abs(windows - np.median(windows, axis=1)[:, None])
    # Few comparisons understate the spread now and then.
    sizes = SD_PER_MAD * np.median(off, axis=1) * (1.0 + 40.0 / width**2)
    # An excursion widens the spread around itself: the windows on both sides have a say.
    aside = -(-_WINDOW // hop)
    if sizes.size > 2 * aside:
        padded = np.concatenate([np.full(aside, np.inf), sizes, np.full(aside, np.inf)])
        sizes = median_of_three(padded[: -2 * aside], sizes, padded[2 * aside :])
    floor = max(0.5 * float(np.median(sizes)), ROUNDING * max(float(np.abs(y).max()), 1.0))
    nearby = np.repeat(np.maximum(sizes, floor), hop)[: rises.size]
    return np.concatenate([np.full(_BEFORE, nearby[0]), nearby])


def _spans(
    y: FloatArray, before: FloatArray, size: FloatArray, outside: BoolArray
) -> list[tuple[int, int, int, bool]]:
    """Onset, peak, end and whether it came back, for each excursion."""
    starts = np.flatnonzero(outside)
    reach = max(4 * _WINDOW, y.size // 5)
    spans = []
    place = last_end = 0
    while place < starts.size:
        at = int(starts[place])
        base, stop = float(before[at]), min(at + reach, y.size)
        back_in = _first_at_most(y[at:stop], base + max(3.0 * float(size[at]), 0.2 * (float(y[at]) - base)))
        recovered = back_in is not None
        end = stop - 1 if back_in is None else at + back_in
        peak = at + int(y[at : max(end, at + 1)].argmax())
        # The first points of the way up may still lie inside the band.
        while at > max(last_end, _BEFORE) and y[at - 1] - before[at - 1] > 3.0 * size[at - 1]:
            at -= 1
        spans.append((at, peak, end, recovered))
        last_end = max(end, peak + 1)
        place = int(np.searchsorted(starts, last_end))
    return spans


def _first_at_most(y: FloatArray, line: float) -> int | None:
    """The first index at or below a line; most returns come soon, so it looks near first."""
    start, width = 0, 64
    while start < y.size:
        hits = y[start : start + width] <= line
        first = int(hits.argmax())
        if hits[first]:
            return start + first
        start, width = start + width, width * 4
    return None


def _beyond_rounding(excursions: list[Spike], scaled: FloatArray) -> list[Spike]:
    """Excursions of more than two steps of a rounded log; 0.02 among many 0.01 is none."""
    grid = np.unique(scaled)
    if grid.size > max(30, scaled.size // 3):
        return excursions
    quantum = float(np.diff(grid).min())
    return [s for s in excursions if s.height > 2.5 * quantum or 5.0 <= s.ratio < _NO_LEVEL]


def _standing_out(
    excursions: list[Spike], y: FloatArray, rise: FloatArray, size: FloatArray, k: float
) -> list[Spike]:
    """Those clear of the largest ordinary deviations, and those beyond any noise."""
    ordinary = np.ones(y.size, dtype=bool)
    ordinary[:_BEFORE] = False
    for s in excursions:
        ordinary[s.at : s.end + 1] = False
    heights = [float((y[s.peak] - y[s.at] + rise[s.at]) / size[s.at]) for s in excursions]
    risen = np.where(ordinary, rise / size, 0.0)
    lasting = heights + largest_apart(risen, k / 2.0)
    # Both sides count for single points, against the points around: no slope enters.
    three = median_of_three(y[:-2], y[1:-1], y[2:])
    around = median_of_three(three[:-2], three[1:-1], three[2:])
    apart = np.where(ordinary[2:-2], (y[2:-2] - around) / size[2:-2], 0.0)
    alone = np.abs(apart)
    single = lasting + largest_apart(alone, k / 2.0)
    point_bar, lasting_bar = bar(single, alone, _CLEAR_POINT), bar(lasting, alone, _CLEAR_LASTING)
    beyond = max(_BEYOND_NOISE * k, _CLEAR_POINT * float(-apart.min(initial=0.0)))
    return [
        s
        for s, height in zip(excursions, heights, strict=True)
        if height >= min(lasting_bar if s.lasting else point_bar, beyond)
    ]
