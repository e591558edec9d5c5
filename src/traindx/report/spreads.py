"""The recorded distributions of activations: untrusted numbers turned into histograms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.facts import number
from traindx.evidence.case import Case
from traindx.report.grids import labelled_places

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_BINS_MOST = 200
_LARGEST = 1e30
_LEAST_WIDTH = 1e-6


@dataclass(frozen=True, eq=False)
class Spread:
    """Shares of the values of one activation at one sample, bin by bin between `edges`."""

    step: float
    edges: FloatArray
    shares: FloatArray
    nonfinite: float


def spreads(case: Case, most: int) -> list[tuple[str, list[Spread]]]:
    """Of at most so many activations, evenly chosen from input to output, the first sample and the last."""
    recorded = case.run.facts.get("histograms")
    by_name: dict[str, list[Spread]] = {}
    for histogram in recorded if isinstance(recorded, list | tuple) else ():
        if isinstance(histogram, Mapping) and (spread := _spread(histogram)) is not None:
            by_name.setdefault(str(histogram.get("name", "")), []).append(spread)
    order = {name: at for at, name in enumerate(case.inside.layers("activation_std"))}
    names = sorted(by_name, key=lambda name: order.get(name, len(order)))
    chosen = [names[int(at)] for at in labelled_places(len(names), most)] if names else []
    return [
        (name, sorted(by_name[name], key=lambda spread: spread.step)[:: max(1, len(by_name[name]) - 1)])
        for name in chosen
    ]


def _spread(recorded: Mapping[str, object]) -> Spread | None:
    low, high, step = number(recorded, "low"), number(recorded, "high"), number(recorded, "step")
    counts = recorded.get("counts")
    if low is None or high is None or step is None or not isinstance(counts, list | tuple):
        return None
    if not 0 < len(counts) <= _BINS_MOST or max(abs(low), abs(high)) > _LARGEST:
        return None
    heights = [
        float(bin_count)
        if isinstance(bin_count, int | float) and math.isfinite(bin_count) and bin_count > 0
        else 0.0
        for bin_count in counts
    ]
    bad = number(recorded, "nonfinite") or 0.0
    total = sum(heights) + max(bad, 0.0)
    if not total > 0:
        return None
    if not high - low > _LEAST_WIDTH * max(abs(low), abs(high)):  # all values are the same
        room = max(_LEAST_WIDTH, 0.05 * abs(low))
        low, high, heights = low - room, low + room, [sum(heights)]
    edges = np.linspace(low, high, len(heights) + 1)
    return Spread(step, edges, np.array(heights) / total, max(bad, 0.0) / total)
