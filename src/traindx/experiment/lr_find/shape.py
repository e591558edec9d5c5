"""The shape of a range test: where the loss begins to fall, where it is lowest, where it turns up."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.valleys import valley

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_BLOCK = 5
# Shares of the fall, and of the way back up, at which a curve is read. One share alone would hang on the
# noise at one place.
_SHARES = (0.1, 0.3, 0.5, 0.7, 0.9)
_READ_LEAST = 3


@dataclass(frozen=True, eq=False)
class RampShape:
    """Landmarks as rates; None where the ramp does not reach one.

    `begins` is where a tenth of the fall is done, `falls` the middle of the falling part, `edge` the middle
    of the rising part.
    """

    curve: FloatArray
    drop: float
    begins: float | None
    falls: float | None
    lowest: float
    edge: float | None


def shape_of(rates: FloatArray, mean: FloatArray, *, noise: float) -> RampShape:
    """The valley through the mean of all seeds. `noise` is of one point of it."""
    fitted = valley(calmed(mean))
    curve = fitted.levels
    drop = max(-fitted.bottom, 0.0)
    places = np.log(rates)
    lowest = math.exp(0.5 * (places[fitted.first] + places[fitted.last]))
    down, up = slice(0, fitted.first + 1), slice(fitted.last, None)
    # A fall within the noise has no way back to be measured by: the rise must leave the noise then.
    back = max(drop, 6.0 * noise)
    falling = [_crossing(places[down], curve[down], -share * drop) for share in _SHARES if drop > 0]
    rising = [_crossing(places[up], -curve[up], drop - share * back) for share in _SHARES]
    reached = [place for place in rising if place is not None]
    edge = None
    if len(reached) >= _READ_LEAST:
        edge = math.exp(np.mean([*reached, *[float(places[-1])] * (len(rising) - len(reached))]))
    crossings = [place for place in falling if place is not None]
    return RampShape(
        curve,
        drop,
        math.exp(crossings[0]) if crossings else None,
        math.exp(np.mean(crossings)) if crossings else None,
        lowest,
        edge,
    )


def calmed(values: FloatArray) -> FloatArray:
    """Running medians of five: a single low batch is no valley."""
    reach = _BLOCK // 2
    padded = np.concatenate([values[:1].repeat(reach), values, values[-1:].repeat(reach)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, _BLOCK)
    middle: FloatArray = np.median(windows, axis=1)
    return middle


def _crossing(places: FloatArray, falling: FloatArray, level: float) -> float | None:
    """Where a falling curve reaches a level; between two points, on the line through them."""
    below = np.flatnonzero(falling <= level)
    if not below.size:
        return None
    at = int(below[0])
    if at == 0:
        return float(places[0])
    high, low = float(falling[at - 1]), float(falling[at])
    share = (high - level) / (high - low)
    return float(places[at - 1] + share * (places[at] - places[at - 1]))
