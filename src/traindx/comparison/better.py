"""Which configuration is better, by how much, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from traindx.comparison.groups import Configuration
from traindx.comparison.results import Results
from traindx.comparison.scores import ScoreLevel
from traindx.evidence import stats

Ruler = Literal["seeds", "pooled", "within", "unknown"]
# So many repeats of each need no loan from other configurations.
_ENOUGH = 5


@dataclass(frozen=True)
class Placed:
    """One configuration in the ranking.

    `behind` is how much worse than the leader it is (positive: worse), with its interval; `ruler` says
    what noise it was measured against: repeats with other seeds, repeats of other configurations
    (`pooled`), the noise within single runs, or none. `tied`: it cannot be told from the leader, with
    so many compared.
    """

    configuration: int
    rank: int
    final: ScoreLevel
    best: float
    runs: int
    failed: int
    behind: stats.Difference | None
    ruler: Ruler
    tied: bool


def ranking(results: Results) -> list[Placed]:
    """Configurations from best to worst by their final level; those that failed are last."""
    groups = results.configurations
    order = [number for number, group in enumerate(groups) if results.scores_of(group)]
    order.sort(key=lambda number: _order(groups[number], results))
    confidence = 1.0 - 0.05 / max(1, len(order) - 1)
    placed = []
    for rank, number in enumerate(order, 1):
        group, leader = groups[number], groups[order[0]]
        behind: stats.Difference | None = None
        ruler: Ruler = "unknown"
        tied = False
        if rank > 1:
            behind, ruler = difference(group, leader, results)
            strict, _ = difference(group, leader, results, confidence)
            tied = strict is not None and not strict.sure and ruler != "unknown"
            tied = tied and not _wholly_worse(group, leader, results, confidence)
        levels = _final(group, results), _best(group, results)
        placed.append(
            Placed(number, rank, *levels, len(group.runs), _failed(group, results), behind, ruler, tied)
        )
    return placed


def difference(
    configuration: Configuration, reference: Configuration, results: Results, confidence: float = 0.95
) -> tuple[stats.Difference | None, Ruler]:
    """How much worse a configuration is than a reference, against the best estimate of the noise."""
    ends, other_ends, spread = results.ends(configuration), results.ends(reference), results.spread
    if not ends or not other_ends:
        return None, "unknown"
    pairs = _pairs(configuration, reference, results)
    fewest = min(len(ends), len(other_ends))
    lent = spread is not None and spread[1] >= 4 * len(pairs) and len(pairs) < _ENOUGH
    if len(pairs) >= 3 and len(pairs) >= 0.8 * fewest and not lent:
        return stats.paired([mine for mine, _ in pairs], [theirs for _, theirs in pairs], confidence), "seeds"
    freedom = len(ends) + len(other_ends) - 2
    if fewest >= 2 and (spread is None or fewest >= _ENOUGH or spread[1] < 2 * freedom):
        return stats.unpaired(ends, other_ends, confidence), "seeds"
    if spread is not None:
        return _pooled(ends, other_ends, spread, confidence), "pooled"
    sign, levels = results.chosen.sign, [_final(part, results) for part in (configuration, reference)]
    first, second = ((sign * level.value, level.error) for level in levels)
    if not math.isfinite(first[1] + second[1]):
        apart = first[0] - second[0]
        return stats.Difference(apart, -math.inf, math.inf, 1.0, "within", (1, 1)), "unknown"
    return stats.within(first, second, confidence), "within"


def _wholly_worse(
    configuration: Configuration, leader: Configuration, results: Results, confidence: float
) -> bool:
    """Whether its best run is beyond chance worse than the leader's worst, whatever the scatter."""
    ends, leader_ends, spread = results.ends(configuration), results.ends(leader), results.spread
    if spread is None or not ends or not leader_ends:
        return False
    return min(ends) - max(leader_ends) > stats.t_reach(confidence, spread[1]) * spread[0] * math.sqrt(2.0)


def _pooled(
    ends: Sequence[float], other_ends: Sequence[float], spread: tuple[float, int], confidence: float
) -> stats.Difference:
    estimate = float(np.mean(ends) - np.mean(other_ends))
    # What scatters more than the others is taken at its own scatter.
    variances = [float(np.var(part, ddof=1)) if len(part) > 1 else 0.0 for part in (ends, other_ends)]
    squares = [
        max(spread[0] ** 2, variance) / len(part)
        for variance, part in zip(variances, (ends, other_ends), strict=True)
    ]
    error = math.sqrt(sum(squares))
    reach = stats.t_reach(confidence, spread[1]) * error
    p = stats.t_two_sided(estimate / error, spread[1]) if error > 0 else float(estimate == 0)
    return stats.Difference(
        estimate, estimate - reach, estimate + reach, p, "unpaired", (len(ends), len(other_ends))
    )


def _pairs(
    configuration: Configuration, reference: Configuration, results: Results
) -> list[tuple[float, float]]:
    """Ends of runs that share a seed."""

    def by_seed(group: Configuration) -> dict[str, float]:
        seeds = {number: results.runs[number].settings.get("seed") for number in group.runs}
        ends = {number: results.end(number) for number in group.runs}
        return {str(seeds[n]): ends[n] for n in ends if seeds[n] is not None and math.isfinite(ends[n])}

    first, second = by_seed(configuration), by_seed(reference)
    return [(first[seed], second[seed]) for seed in first if seed in second]


def _final(group: Configuration, results: Results) -> ScoreLevel:
    """The mean of repeats with its standard error, or the level of a single run with its own."""
    finals = results.finals(group)
    if len(finals) < 2:
        return finals[0] if finals else ScoreLevel(math.nan)
    ends = [level.value for level in finals]
    return ScoreLevel(float(np.mean(ends)), float(np.std(ends, ddof=1) / math.sqrt(len(ends))))


def _best(group: Configuration, results: Results) -> float:
    bests = [score.best for score in results.scores_of(group) if math.isfinite(score.best)]
    return float(np.mean(bests)) if bests else math.nan


def _failed(group: Configuration, results: Results) -> int:
    return sum(not score.ended for score in results.scores_of(group))


def _order(group: Configuration, results: Results) -> tuple[bool, float, float]:
    """Failed runs count: a configuration half of whose seeds fail is behind all that do not."""
    ends = results.ends(group)
    if not ends:
        best = _best(group, results)
        return True, math.inf, results.chosen.sign * best if math.isfinite(best) else math.inf
    return _failed(group, results) > len(ends), float(np.mean(ends)), 0.0
