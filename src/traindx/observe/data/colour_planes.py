"""Whether colour images lie in memory as the model takes them: neighbours along a line are of one colour.

An image of (height, width, 3) that was reshaped to (3, height, width) has the colours in turns along its
lines.
"""

from __future__ import annotations

import numpy as np

from traindx.observe.arrays import Tensor, Values, evenly, host

_COLOURS, _LEAST_WIDTH = 3, 8
_IMAGES, _LINES = 8, 4
# An edge is no more than this many usual differences: a few edges that all images share decide nothing.
_MOST_OF_USUAL = 3.0


def line_evenness(data: Tensor) -> float | None:
    """About 1 and more in images of (3, height, width); near 0 where the colours take turns along a line.

    The lower of two ratios: how much less a value differs from the third after it than from the first or
    second, and how unequal the differences between neighbours are at the three places of a turn.
    """
    if data.ndim != 4 or data.shape[1] != _COLOURS or data.shape[2] < 2 or data.shape[3] < _LEAST_WIDTH:
        return None
    with np.errstate(all="ignore"):
        lines = host(evenly(data, (_IMAGES, _COLOURS, _LINES, data.shape[3]))).astype(np.float64)
        # What all images share at a place (a joint of a skeleton, a sensor) is no colour.
        lines -= np.median(lines, axis=(0, 2), keepdims=True)
        near, second, third = (np.abs(lines[..., lag:] - lines[..., :-lag]) for lag in (1, 2, _COLOURS))
        nearest = min(near.mean(), second.mean())
        if not 0 < nearest < np.inf:
            return None
        return float(min(third.mean() / nearest, _by_place(near, *data.shape[2:])))


def _by_place(near: Values, height: int, width: int) -> float:
    """The least by the largest mean difference of the places of a turn; 1 for areas of one colour."""
    usual = np.median(near)
    if not usual:
        return 1.0
    lines = np.arange(near.shape[2]) * (height // near.shape[2])
    start = np.arange(_COLOURS)[:, None] * height * width + lines * width
    place = np.broadcast_to((start[..., None] + np.arange(width - 1)) % _COLOURS, near.shape)
    totals = np.bincount(place.ravel(), np.minimum(near, _MOST_OF_USUAL * usual).ravel(), _COLOURS)
    means = totals / np.bincount(place.ravel(), minlength=_COLOURS)
    return float(means.min() / means.max())
