"""Effects in the units of the metric, and those that vanish next to a combination of settings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.combinations import Combination, indicator, without_extremes
from traindx.comparison.contrast import Contrast, contrast
from traindx.comparison.effects import Effect
from traindx.comparison.factors import Factor, columns_of, gain

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_SEEN = 0.05


def in_units(
    effects: Sequence[Effect],
    factors: Sequence[Factor],
    metric: FloatArray,
    order: FloatArray,
    combined: Sequence[Combination],
) -> list[Effect]:
    """The effects with their worst and best values in units, and whether a combination is behind them."""
    by_name = {factor.name: factor for factor in factors}
    values = without_extremes(metric, order)
    inside = np.zeros(values.size, dtype=bool)
    for combination in combined:
        inside[list(combination.runs)] = True
    outside = ~inside
    measured = []
    for effect in effects:
        factor = by_name[effect.setting]
        best, worst = effect.places[0][0], effect.places[-1][0]
        groups = [factor.level == factor.names.index(value) for value in (worst, best)]
        all_runs = contrast(worst, groups[0], best, groups[1], metric)
        rest = contrast(worst, groups[0] & outside, best, groups[1] & outside, metric) if combined else None
        vanishes = bool(combined) and _vanishes(effect, factor, factors, values, combined, (all_runs, rest))
        measured.append(replace(effect, contrast=all_runs, elsewhere=rest, vanishes=vanishes))
    return measured


def _vanishes(
    effect: Effect,
    factor: Factor,
    factors: Sequence[Factor],
    values: FloatArray,
    combined: Sequence[Combination],
    contrasts: tuple[Contrast | None, Contrast | None],
) -> bool:
    """Whether a setting seems to matter, and does not once the combinations are accounted for."""
    constant = np.ones((values.size, 1))
    seems = (
        effect.matters
        or gain(constant, np.concatenate([constant, factor.columns], axis=1), values)[1] < _SEEN
    )
    before, after = contrasts
    if not seems or before is None:
        return False
    cells = [indicator(combination, values.size) for combination in combined]
    other_columns = columns_of([candidate for candidate in factors if candidate is not factor])
    full = np.concatenate([columns_of(factors), *cells], axis=1)
    _, p = gain(np.concatenate([other_columns, *cells], axis=1), full, values)
    return p >= _SEEN and (after is None or abs(after.difference) < 0.5 * abs(before.difference))
