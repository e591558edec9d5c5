"""Settings of a sweep as levels, and how much of the results a least-squares fit on them explains."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.student import f_tail

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray, IntArray

_LEVELS_MOST = 6
_BINS = 4
SPARE = 4


@dataclass(frozen=True, eq=False)
class Factor:
    """A setting as levels: which of them each run has, what they are called, one column for each but one.

    `numbers` are its values where all are numbers; its levels are then in their order.
    """

    name: str
    level: IntArray
    names: tuple[str, ...]
    columns: FloatArray
    numbers: FloatArray | None = None


def factors_of(settings: Mapping[str, Sequence[str | None]], runs: int) -> list[Factor]:
    """The settings (one value per run) as factors; those of most levels are left out where runs are few."""
    factors = [factor for name, values in settings.items() if (factor := _factor(name, values)) is not None]
    free = runs - 1 - sum(factor.columns.shape[1] for factor in factors)
    while factors and free < SPARE:
        factors = sorted(factors, key=lambda factor: factor.columns.shape[1])[:-1]
        free = runs - 1 - sum(factor.columns.shape[1] for factor in factors)
    return factors


def _factor(name: str, values: Sequence[str | None]) -> Factor | None:
    texts = [value if value is not None else "not told" for value in values]
    distinct = list(dict.fromkeys(texts))
    if len(distinct) < 2:
        return None
    numbers = _numbers(texts)
    if numbers is not None and len(distinct) > _LEVELS_MOST:
        edges = np.unique(np.quantile(numbers, np.linspace(0, 1, _BINS + 1)[1:-1]))
        level = np.searchsorted(edges, numbers, side="right").astype(np.int64)
        names = tuple(_range(numbers[level == at]) for at in range(int(level.max()) + 1))
    else:
        if numbers is not None:
            distinct.sort(key=float)
        counts = {value: texts.count(value) for value in distinct}
        levels = sorted(distinct, key=lambda value: -counts[value])[: 2 * _LEVELS_MOST]
        names = tuple(value for value in distinct if value in levels)
        if len(levels) < len(distinct):
            if len(distinct) > 0.5 * len(texts):
                return None  # nearly every run has a value of its own: a name, not a setting
            names = (*names, "others")
        level = np.array([names.index(v) if v in names else len(names) - 1 for v in texts], dtype=np.int64)
    one_hot = (level[:, None] == np.arange(1, len(names))[None, :]).astype(np.float64)
    return Factor(name, level, names, one_hot, numbers if "others" not in names else None)


def _numbers(texts: Sequence[str]) -> FloatArray | None:
    try:
        numbers = np.array([float(value) for value in texts])
    except ValueError:
        return None
    return numbers if np.isfinite(numbers).all() else None


def _range(values: FloatArray) -> str:
    if not values.size:
        return "none"
    low, high = float(values.min()), float(values.max())
    return f"{low:.3g}" if low == high else f"{low:.3g} to {high:.3g}"


def columns_of(factors: Sequence[Factor]) -> FloatArray:
    rows = factors[0].columns.shape[0] if factors else 0
    return np.concatenate([np.ones((rows, 1)), *(factor.columns for factor in factors)], axis=1)


def left_over(design: FloatArray, order: FloatArray, weights: FloatArray | None = None) -> tuple[float, int]:
    """What the least-squares fit leaves of the variance, and the rank of the design."""
    if weights is not None:
        root = np.sqrt(weights)
        design, order = design * root[:, None], order * root
    gram = design.T @ design
    values, vectors = np.linalg.eigh(gram)
    significant = values > 1e-9 * max(float(values[-1]), 1e-300)
    along = vectors[:, significant].T @ (design.T @ order)
    explained = float((along**2 / values[significant]).sum())
    return max(0.0, float(order @ order) - explained), int(significant.sum())


def share_of(
    factor: Factor, factors: Sequence[Factor], order: FloatArray, weights: FloatArray | None = None
) -> tuple[float, float]:
    """The share of variance that only this factor explains, corrected for chance, and its p."""
    mean = order.mean() if weights is None else float(weights @ order / weights.sum())
    y = order - mean
    total = float(y @ y) if weights is None else float(weights @ y**2)
    if total <= 0:
        return 0.0, 1.0
    full, rank = left_over(columns_of(factors), y, weights)
    other_factors = [candidate for candidate in factors if candidate is not factor]
    design = columns_of(other_factors) if other_factors else np.ones((order.size, 1))
    rest, rank_rest = left_over(design, y, weights)
    extra, free = rank - rank_rest, order.size - rank
    if extra < 1 or free < 1:
        return 0.0, 1.0
    error = full / free
    share = (rest - full - extra * error) / total
    f = (rest - full) / extra / error if error > 0 else np.inf
    return max(0.0, share), f_tail(min(float(f), 1e12), extra, free)


def gain(small: FloatArray, full: FloatArray, values: FloatArray) -> tuple[float, float]:
    """The share of variance that a larger design explains beyond a smaller one, and its p."""
    y = values - values.mean()
    total = float(y @ y)
    rest, rank_rest = left_over(small, y)
    unexplained, rank = left_over(full, y)
    extra, free = rank - rank_rest, y.size - rank
    if extra < 1 or free < SPARE or total <= 0:
        return 0.0, 1.0
    error = unexplained / free
    f = (rest - unexplained) / extra / error if error > 0 else np.inf
    return (rest - unexplained - extra * error) / total, f_tail(min(float(f), 1e12), extra, free)
