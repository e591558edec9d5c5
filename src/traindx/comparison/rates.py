"""Learning rates of a sweep: too low, good, too high; and whether the good one follows the batch size."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

_VALUES_LEAST = 3
_BINS_MOST = 9
_CLOSE = 0.1


@dataclass(frozen=True)
class RateRange:
    """Rates tried under one condition (an optimizer, a batch size; empty: all), and what became of them.

    `edge` is "lowest" or "highest" when the best rate is the last one tried on that side. `levels` are
    rate, middle of the final levels, runs, runs that failed.
    """

    condition: str
    best: float
    good: tuple[float, float]
    too_low: tuple[float, float] | None
    too_high: tuple[float, float] | None
    edge: str
    levels: tuple[tuple[float, float, int, int], ...]


@dataclass(frozen=True)
class LrScaling:
    """How the best rate scales with the batch size: the power and, from the spacing of rates, its range."""

    power: float
    low: float
    high: float
    points: tuple[tuple[float, float], ...]
    verdict: str


def rate_range(condition: str, pairs: Sequence[tuple[float, float]], noise: float) -> RateRange | None:
    """Each pair is a rate and a final level: lower is better, inf is a failed run."""
    levels = _levels([(rate, value) for rate, value in pairs if rate > 0])
    finite = [value for _, value, _, _ in levels if math.isfinite(value)]
    if len(levels) < _VALUES_LEAST or not finite:
        return None
    low = min(finite)
    # Close to the best: within its noise, or a tenth of what separates it from the middle of the others.
    other_levels = sorted(finite)[1:] or finite
    slack = max(2.0 * noise, _CLOSE * (float(np.median(other_levels)) - low))
    best = next(at for at, (_, value, _, _) in enumerate(levels) if value == low)
    fine = [math.isfinite(v) and v <= low + slack and not f > n / 2 for _, v, n, f in levels]
    fine[best] = True
    first, last = best, best
    while first > 0 and fine[first - 1]:
        first -= 1
    while last < len(levels) - 1 and fine[last + 1]:
        last += 1
    rates = [rate for rate, _, _, _ in levels]
    edge = "lowest" if first == 0 else "highest" if last == len(levels) - 1 else ""
    if first == 0 and last == len(levels) - 1:
        edge = "both"
    return RateRange(
        condition,
        rates[best],
        (rates[first], rates[last]),
        (rates[0], rates[first - 1]) if first > 0 else None,
        (rates[last + 1], rates[-1]) if last < len(levels) - 1 else None,
        edge,
        tuple(levels),
    )


def _levels(pairs: Sequence[tuple[float, float]]) -> list[tuple[float, float, int, int]]:
    """One level per rate, or per stretch of rates where nearly every run has its own."""
    distinct = sorted({rate for rate, _ in pairs})
    if len(distinct) > _BINS_MOST:
        ends = np.log([distinct[0], distinct[-1]])
        edges = np.exp(np.linspace(ends[0], ends[1], _BINS_MOST))[1:-1]
        bins: dict[int, list[tuple[float, float]]] = {}
        for rate, value in pairs:
            bins.setdefault(int(np.searchsorted(edges, rate)), []).append((rate, value))
        groups = [
            (float(np.exp(np.mean(np.log([r for r, _ in g])))), [v for _, v in g]) for g in bins.values()
        ]
    else:
        groups = [(rate, [value for r, value in pairs if r == rate]) for rate in distinct]
    levels = []
    for rate, values in sorted(groups):
        ends_well = [value for value in values if math.isfinite(value)]
        failed = len(values) - len(ends_well)
        level = float(np.median(ends_well)) if ends_well and failed <= len(values) / 2 else math.inf
        levels.append((float(f"{rate:.3g}"), level, len(values), failed))
    return levels


def scaling(by_batch: Mapping[float, RateRange]) -> LrScaling | None:
    """Whether the best rate grows with the batch as linear scaling says (power 1) or its root (0.5)."""
    inside = {batch: lr_range for batch, lr_range in by_batch.items() if lr_range.edge != "both"}
    if len(inside) < 2:
        return None
    batches = sorted(inside)
    x = np.log(batches)
    centres = [0.5 * (math.log(inside[b].good[0]) + math.log(inside[b].good[1])) for b in batches]
    reach = [_reach(inside[b]) for b in batches]
    power = float(np.polyfit(x, centres, 1)[0])
    slack = (
        float(np.hypot(max(reach), max(reach)) / (x[-1] - x[0]))
        if len(batches) == 2
        else float(max(reach) * math.sqrt(12.0 / len(batches)) / (x[-1] - x[0]))
    )
    low, high = power - slack, power + slack
    edges = [batch for batch in batches if inside[batch].edge]
    points = tuple((batch, math.exp(centre)) for batch, centre in zip(batches, centres, strict=True))
    return LrScaling(power, low, high, points, _verdict(low, high, edges))


def _reach(lr_range: RateRange) -> float:
    """How well the best rate is known: half the good range, or half the spacing of the rates tried."""
    rates = np.log([rate for rate, _, _, _ in lr_range.levels])
    spacing = float(np.median(np.diff(rates)))
    return max(0.5 * (math.log(lr_range.good[1]) - math.log(lr_range.good[0])), 0.5 * spacing)


def _verdict(low: float, high: float, edges: Sequence[float]) -> str:
    fits = [
        word for word, power in (("linear", 1.0), ("square-root", 0.5), ("no", 0.0)) if low <= power <= high
    ]
    if edges:
        batches = ", ".join(f"{batch:g}" for batch in edges)
        return f"not settled: at batch size {batches} the best rate is at the edge of those tried"
    if not fits:
        return "none of the usual rules fits"
    if len(fits) > 1:
        return f"the rates tried are too far apart to decide {' from '.join(fits)} scaling"
    return {"linear": "linear scaling holds", "square-root": "square-root scaling fits, linear does not"}.get(
        fits[0], "the best rate does not move with the batch size"
    )
