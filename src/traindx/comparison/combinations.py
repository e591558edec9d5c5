"""Two settings that only together make runs better or worse."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.contrast import Contrast, contrast
from traindx.comparison.factors import SPARE, Factor, columns_of, gain, left_over
from traindx.comparison.pairs import Pairs, best_pair, rivals

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

_MOST = 2
_STRONG = 0.05
_SEEN = 0.05
_FAR = 10.0


@dataclass(frozen=True)
class Combination:
    """A value (or range) of one setting together with one of another.

    `contrast` sets the runs that meet both conditions against all others; `alone` are the mean and the number
    of runs that meet only the first, only the second, neither. `share` of the variance is explained by
    meeting both, `extra` beyond the main effects of all settings. `p` is corrected for the `pairs` of splits
    tried. `hurts`: the runs that meet both end worse. `only_together`: neither condition alone does anything
    beyond chance. `rivals` are pairs of other settings that explain the results about as well.
    """

    settings: tuple[str, str]
    conditions: tuple[str, str]
    contrast: Contrast
    alone: tuple[tuple[float | None, int], ...]
    share: float
    extra: float
    p: float
    pairs: int
    hurts: bool
    only_together: bool
    rivals: tuple[tuple[str, str], ...]
    runs: tuple[int, ...]


def combinations(factors: Sequence[Factor], metric: FloatArray, order: FloatArray) -> list[Combination]:
    """Pairs of settings whose combination explains `metric` (NaN or Inf: failed) beyond all main effects.

    `order` is the place of each run, 0 the best; the interaction has to point the same way in both.
    """
    values = without_extremes(metric, order)
    if len(factors) < 2 or float(np.ptp(values)) <= 0:
        return []
    fitted, combined = columns_of(factors), []
    for _ in range(_MOST):
        if values.size - fitted.shape[1] <= SPARE:
            break
        pairs = Pairs.of(factors, fitted)
        best = best_pair(pairs, values, order)
        if best is None:
            break
        at, p = best
        combination = _combination(pairs, at, p, factors, fitted, (metric, values, order))
        if combination is None:
            break
        combined.append(combination)
        fitted = np.concatenate([fitted, indicator(combination, values.size)], axis=1)
    return combined


def _combination(
    pairs: Pairs,
    at: int,
    p: float,
    factors: Sequence[Factor],
    fitted: FloatArray,
    results: tuple[FloatArray, FloatArray, FloatArray],
) -> Combination | None:
    """Which of the four cells stands out, and by how much."""
    metric, values, order = results
    split, partner = pairs.pairs[at]
    rest = [factor for factor in factors if factor not in (split.factor, partner.factor)]
    plain = columns_of(rest) if rest else np.ones((values.size, 1))
    corners = [(split.side(a), partner.side(b)) for a in (True, False) for b in (True, False)]
    cells = [(first[0] & second[0]).astype(np.float64)[:, None] for first, second in corners]
    unexplained = [
        left_over(np.concatenate([plain, cell], axis=1), values - values.mean())[0] for cell in cells
    ]
    best_cell = int(np.argmin(unexplained))
    (mine, name), (theirs, other_name) = corners[best_cell]
    in_both = mine & theirs
    apart = contrast(f"{name}, {other_name}", in_both, "others", ~in_both, metric)
    with_cell = np.concatenate([fitted, cells[best_cell]], axis=1)
    extra, _ = gain(fitted, with_cell, values)
    groups = (mine & ~theirs, theirs & ~mine, ~mine & ~theirs)
    if apart is None or extra < _STRONG or not _stands_out(values, in_both, groups):
        return None
    constant = np.ones((values.size, 1))
    one_cell = np.concatenate([plain, cells[best_cell]], axis=1)
    _, p_alone = gain(one_cell, np.concatenate([plain, *cells], axis=1), values)
    return Combination(
        (split.factor.name, partner.factor.name),
        (name, other_name),
        apart,
        tuple((_mean(metric[group]), int(group.sum())) for group in groups),
        gain(constant, np.concatenate([constant, cells[best_cell]], axis=1), values)[0],
        extra,
        p,
        len(pairs.pairs),
        bool(order[in_both].mean() > order[~in_both].mean()),
        p_alone >= _SEEN,
        rivals(pairs, at, values),
        tuple(int(number) for number in np.flatnonzero(in_both)),
    )


def _stands_out(values: FloatArray, in_both: BoolArray, groups: Sequence[BoolArray]) -> bool:
    """Whether the cell is on one side of the three others: a crossing of effects is no combination."""
    apart = float(values[in_both].mean() - values[~in_both].mean())
    nearest = min((float(values[in_both].mean() - values[group].mean()) for group in groups), key=abs)
    return nearest * apart > 0 and abs(nearest) >= 0.5 * abs(apart)


def _mean(metric: FloatArray) -> float | None:
    finite = metric[np.isfinite(metric)]
    return float(finite.mean()) if finite.size else None


def without_extremes(metric: FloatArray, order: FloatArray) -> FloatArray:
    """What failed or ended beyond all others counts as twice as far from the best as the worst of the rest.

    One run must not outweigh all others.
    """
    finite = np.isfinite(metric)
    if not finite.any():
        return np.zeros_like(metric)
    low, middle, high = np.quantile(metric[finite], (0.25, 0.5, 0.75))
    usual = finite & (np.abs(metric - middle) <= _FAR * (high - low)) if high > low else finite
    best, worst = (metric[usual][at(order[usual])] for at in (np.argmin, np.argmax))
    return np.where(usual, metric, np.where(order > order[usual].max(), 2 * worst - best, best))


def indicator(combination: Combination, runs: int) -> FloatArray:
    column = np.zeros((runs, 1))
    column[list(combination.runs)] = 1.0
    return column
