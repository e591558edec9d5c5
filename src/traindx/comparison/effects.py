"""Which settings of a sweep matter: how much of the order each explains, and which act together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.contrast import Contrast
from traindx.comparison.factors import Factor, columns_of, factors_of, gain, share_of

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_RESAMPLES = 200
_PAIRS_OF = 12
_STRONG = 0.05
_SURE = 0.01


@dataclass(frozen=True)
class Effect:
    """One setting: the share of the rank order that it explains next to all others, with a 95 % interval.

    `places` are the mean places of its values among all runs (0 first, 1 last), the best value first.
    `contrast` are its worst and best value in units of the metric, `elsewhere` the same among the runs
    without the combinations; the setting `vanishes` when a combination explains what it seemed to do.
    """

    setting: str
    share: float
    low: float
    high: float
    p: float
    places: tuple[tuple[str, float, int], ...]
    contrast: Contrast | None = None
    elsewhere: Contrast | None = None
    vanishes: bool = False

    @property
    def matters(self) -> bool:
        return self.p < 0.05 and self.share >= 0.01


@dataclass(frozen=True)
class Interaction:
    """Two settings whose effects do not add: how much more they explain together."""

    settings: tuple[str, str]
    share: float
    p: float


def effects(
    settings: Mapping[str, Sequence[str | None]], order: FloatArray
) -> tuple[list[Effect], list[Interaction]]:
    """Effects of settings (one value per run) on `order`, the place of each run from 0 (best) to 1."""
    factors = factors_of(settings, order.size)
    if not factors:
        return [], []
    estimates = [_effect(factor, factors, order) for factor in factors]
    estimates.sort(key=lambda effect: -effect.share)
    ordered = sorted(factors, key=lambda factor: [e.setting for e in estimates].index(factor.name))
    return estimates, _interactions(ordered[:_PAIRS_OF], factors, order)


def _effect(factor: Factor, factors: Sequence[Factor], order: FloatArray) -> Effect:
    share, p = share_of(factor, factors, order)
    rng = np.random.default_rng(0)
    even = np.full(order.size, 1 / order.size)
    resampled = []
    for _ in range(_RESAMPLES):
        weights: FloatArray = rng.multinomial(order.size, even).astype(np.float64)
        resampled.append(share_of(factor, factors, order, weights)[0])
    low, high = (float(value) for value in np.quantile(resampled, (0.025, 0.975)))
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
        tuple(sorted(places, key=lambda place: place[1])),
    )


def _interactions(
    strongest: Sequence[Factor], factors: Sequence[Factor], order: FloatArray
) -> list[Interaction]:
    """Pairs that explain clearly more together than one after the other."""
    interactions = []
    plain = columns_of(factors)
    pairs = list(combinations(strongest, 2))
    for factor, partner in pairs:
        products = (factor.columns[:, :, None] * partner.columns[:, None, :]).reshape(order.size, -1)
        share, p = gain(plain, np.concatenate([plain, products], axis=1), order)
        if share >= _STRONG and p < _SURE / len(pairs):
            interactions.append(Interaction((factor.name, partner.name), share, p))
    return sorted(interactions, key=lambda interaction: -interaction.share)
