"""Which settings of a sweep matter: how much of the order each explains, and which act together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.student import f_tail

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray, IntArray

_LEVELS_MOST = 6
_BINS = 4
_RESAMPLES = 200
_PAIRS_OF = 6
_STRONG = 0.05
_SURE = 0.01
_SPARE = 4


@dataclass(frozen=True)
class Effect:
    """One setting: the share of the rank order that it explains next to all others, with a 95 % interval.

    `places` are the mean places of its values among all runs (0 first, 1 last), the best value first.
    """

    setting: str
    share: float
    low: float
    high: float
    p: float
    places: tuple[tuple[str, float, int], ...]

    @property
    def matters(self) -> bool:
        return self.p < 0.05 and self.share >= 0.01


@dataclass(frozen=True)
class Interaction:
    """Two settings whose effects do not add: how much more they explain together."""

    settings: tuple[str, str]
    share: float
    p: float


@dataclass(frozen=True, eq=False)
class _Factor:
    """A setting as levels: which of them each run has, what they are called, one column for each but one."""

    name: str
    level: IntArray
    names: tuple[str, ...]
    columns: FloatArray


def effects(
    settings: Mapping[str, Sequence[str | None]], order: FloatArray
) -> tuple[list[Effect], list[Interaction]]:
    """Effects of settings (one value per run) on `order`, the place of each run from 0 (best) to 1."""
    factors = [factor for name, values in settings.items() if (factor := _factor(name, values)) is not None]
    free = order.size - 1 - sum(factor.columns.shape[1] for factor in factors)
    while factors and free < _SPARE:
        factors = sorted(factors, key=lambda factor: factor.columns.shape[1])[:-1]
        free = order.size - 1 - sum(factor.columns.shape[1] for factor in factors)
    if not factors:
        return [], []
    estimates = [_effect(factor, factors, order) for factor in factors]
    estimates.sort(key=lambda effect: -effect.share)
    ordered = sorted(factors, key=lambda factor: [e.setting for e in estimates].index(factor.name))
    return estimates, _interactions(ordered[:_PAIRS_OF], factors, order)


def _factor(name: str, values: Sequence[str | None]) -> _Factor | None:
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
    return _Factor(name, level, names, one_hot)


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


def _design(factors: Sequence[_Factor]) -> FloatArray:
    rows = factors[0].columns.shape[0] if factors else 0
    return np.concatenate([np.ones((rows, 1)), *(factor.columns for factor in factors)], axis=1)


def _left(design: FloatArray, order: FloatArray, weights: FloatArray | None = None) -> tuple[float, int]:
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


def _share(
    factor: _Factor, factors: Sequence[_Factor], order: FloatArray, weights: FloatArray | None = None
) -> tuple[float, float]:
    """The share of variance that only this factor explains, corrected for chance, and its p."""
    mean = order.mean() if weights is None else float(weights @ order / weights.sum())
    y = order - mean
    total = float(y @ y) if weights is None else float(weights @ y**2)
    if total <= 0:
        return 0.0, 1.0
    full, rank = _left(_design(factors), y, weights)
    others = [one for one in factors if one is not factor]
    design = _design(others) if others else np.ones((order.size, 1))
    rest, rank_rest = _left(design, y, weights)
    extra, free = rank - rank_rest, order.size - rank
    if extra < 1 or free < 1:
        return 0.0, 1.0
    error = full / free
    share = (rest - full - extra * error) / total
    f = (rest - full) / extra / error if error > 0 else np.inf
    return max(0.0, share), f_tail(min(float(f), 1e12), extra, free)


def _effect(factor: _Factor, factors: Sequence[_Factor], order: FloatArray) -> Effect:
    share, p = _share(factor, factors, order)
    rng = np.random.default_rng(0)
    even = np.full(order.size, 1 / order.size)
    drawn = []
    for _ in range(_RESAMPLES):
        weights: FloatArray = rng.multinomial(order.size, even).astype(np.float64)
        drawn.append(_share(factor, factors, order, weights)[0])
    low, high = (float(value) for value in np.quantile(drawn, (0.025, 0.975)))
    places = [
        (name, float(order[factor.level == at].mean()), int((factor.level == at).sum()))
        for at, name in enumerate(factor.names)
        if (factor.level == at).any()
    ]
    return Effect(
        factor.name,
        share,
        min(low, share),
        max(high, share),
        p,
        tuple(sorted(places, key=lambda one: one[1])),
    )


def _interactions(
    strongest: Sequence[_Factor], factors: Sequence[_Factor], order: FloatArray
) -> list[Interaction]:
    """Pairs that explain clearly more together than one after the other."""
    interactions = []
    y = order - order.mean()
    total = float(y @ y)
    plain = _design(factors)
    left, rank = _left(plain, y)
    pairs = list(combinations(strongest, 2))
    for one, other in pairs:
        products = (one.columns[:, :, None] * other.columns[:, None, :]).reshape(order.size, -1)
        more, rank_more = _left(np.concatenate([plain, products], axis=1), y)
        extra, free = rank_more - rank, order.size - rank_more
        if extra < 1 or free < _SPARE or total <= 0:
            continue
        error = more / free
        p = f_tail(min(float((left - more) / extra / error), 1e12) if error > 0 else 1e12, extra, free)
        share = (left - more - extra * error) / total
        if share >= _STRONG and p < _SURE / len(pairs):
            interactions.append(Interaction((one.name, other.name), share, p))
    return sorted(interactions, key=lambda one: -one.share)
