"""Which configuration is better, by how much, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from traindx.comparison.groups import Configuration, seed_spread
from traindx.comparison.metric import Chosen
from traindx.comparison.scores import Score, ScoreLevel
from traindx.comparison.subjects import Subject
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


def ranking(
    groups: Sequence[Configuration], runs: Sequence[Subject], scores: Sequence[Score | None], chosen: Chosen
) -> list[Placed]:
    """Configurations from best to worst by their final level; those that failed are last."""
    spread = seed_spread([one.runs for one in groups], scores, chosen.sign)
    order = sorted(range(len(groups)), key=lambda n: _order(groups[n], scores, chosen))
    order = [n for n in order if any(scores[run] is not None for run in groups[n].runs)]
    if not order:
        return []
    leader = groups[order[0]]
    confidence = 1.0 - 0.05 / max(1, len(order) - 1)
    placed = []
    for rank, number in enumerate(order, 1):
        one = groups[number]
        behind: stats.Difference | None = None
        ruler: Ruler = "unknown"
        tied = False
        if rank > 1:
            behind, ruler = difference(one, leader, runs, scores, chosen, spread)
            strict, _ = difference(one, leader, runs, scores, chosen, spread, confidence)
            tied = strict is not None and not strict.sure and ruler != "unknown"
            tied = tied and not _wholly_worse(one, leader, scores, chosen.sign, spread, confidence)
        failed = sum((s := scores[n]) is not None and not s.ended for n in one.runs)
        placed.append(
            Placed(
                number,
                rank,
                _final(one, scores),
                _best(one, scores),
                len(one.runs),
                failed,
                behind,
                ruler,
                tied,
            )
        )
    return placed


def difference(
    one: Configuration,
    other: Configuration,
    runs: Sequence[Subject],
    scores: Sequence[Score | None],
    chosen: Chosen,
    spread: tuple[float, int] | None,
    confidence: float = 0.95,
) -> tuple[stats.Difference | None, Ruler]:
    """How much worse `one` is than `other`, against the best ruler there is."""
    ends, other_ends = _ends(one, scores), _ends(other, scores)
    if not ends or not other_ends:
        return None, "unknown"
    sign = chosen.sign
    pairs = _pairs(one, other, runs, scores)
    lent = spread is not None and spread[1] >= 4 * len(pairs) and len(pairs) < _ENOUGH
    if len(pairs) >= 3 and len(pairs) >= 0.8 * min(len(ends), len(other_ends)) and not lent:
        test = stats.paired([sign * a for a, _ in pairs], [sign * b for _, b in pairs], confidence)
        return test, "seeds"
    fewest = min(len(ends), len(other_ends))
    own = len(ends) + len(other_ends) - 2
    if fewest >= 2 and (spread is None or fewest >= _ENOUGH or spread[1] < 2 * own):
        return stats.unpaired([sign * a for a in ends], [sign * b for b in other_ends], confidence), "seeds"
    if spread is not None:
        return _pooled(ends, other_ends, sign, spread, confidence), "pooled"
    levels = [_final(part, scores) for part in (one, other)]
    if not all(math.isfinite(level.error) for level in levels):
        return _bare(sign * (levels[0].value - levels[1].value)), "unknown"
    first, second = ((sign * level.value, level.error) for level in levels)
    return stats.within(first, second, confidence), "within"


def _wholly_worse(
    one: Configuration,
    leader: Configuration,
    scores: Sequence[Score | None],
    sign: float,
    spread: tuple[float, int] | None,
    confidence: float,
) -> bool:
    """Whether its best run is beyond chance worse than the leader's worst, whatever the scatter."""
    ends, leader_ends = _ends(one, scores), _ends(leader, scores)
    if spread is None or not ends or not leader_ends:
        return False
    apart = min(sign * value for value in ends) - max(sign * value for value in leader_ends)
    return apart > stats.t_reach(confidence, spread[1]) * spread[0] * math.sqrt(2.0)


def _bare(estimate: float) -> stats.Difference:
    return stats.Difference(estimate, -math.inf, math.inf, 1.0, "within", (1, 1))


def _pooled(
    ends: Sequence[float],
    other_ends: Sequence[float],
    sign: float,
    spread: tuple[float, int],
    confidence: float,
) -> stats.Difference:
    estimate = sign * float(np.mean(ends) - np.mean(other_ends))
    # What scatters more than the others is taken at its own scatter.
    own = [float(np.var(part, ddof=1)) if len(part) > 1 else 0.0 for part in (ends, other_ends)]
    squares = [
        max(spread[0] ** 2, one) / len(part) for one, part in zip(own, (ends, other_ends), strict=True)
    ]
    error = math.sqrt(sum(squares))
    reach = stats.t_reach(confidence, spread[1]) * error
    p = stats.t_two_sided(estimate / error, spread[1]) if error > 0 else float(estimate == 0)
    return stats.Difference(
        estimate, estimate - reach, estimate + reach, p, "unpaired", (len(ends), len(other_ends))
    )


def _pairs(
    one: Configuration, other: Configuration, runs: Sequence[Subject], scores: Sequence[Score | None]
) -> list[tuple[float, float]]:
    """Ends of runs that share a seed."""

    def by_seed(part: Configuration) -> dict[str, float]:
        finals = {}
        for number in part.runs:
            score, seed = scores[number], runs[number].settings.get("seed")
            if score is not None and score.final.known and seed is not None:
                finals[str(seed)] = score.final.value
        return finals

    first, second = by_seed(one), by_seed(other)
    return [(first[seed], second[seed]) for seed in first if seed in second]


def _ends(one: Configuration, scores: Sequence[Score | None]) -> list[float]:
    return [s.final.value for n in one.runs if (s := scores[n]) is not None and s.final.known]


def _final(one: Configuration, scores: Sequence[Score | None]) -> ScoreLevel:
    """The mean of repeats with its standard error, or the level of a single run with its own."""
    ends = _ends(one, scores)
    if len(ends) > 1:
        return ScoreLevel(float(np.mean(ends)), float(np.std(ends, ddof=1) / math.sqrt(len(ends))))
    finals = [s.final for n in one.runs if (s := scores[n]) is not None and s.final.known]
    return finals[0] if finals else ScoreLevel(math.nan)


def _best(one: Configuration, scores: Sequence[Score | None]) -> float:
    bests = [s.best for n in one.runs if (s := scores[n]) is not None and math.isfinite(s.best)]
    return float(np.mean(bests)) if bests else math.nan


def _order(one: Configuration, scores: Sequence[Score | None], chosen: Chosen) -> tuple[bool, float, float]:
    """Failed runs count: a configuration half of whose seeds fail is behind all that do not."""
    ends = _ends(one, scores)
    failed = sum((s := scores[n]) is not None and not s.ended for n in one.runs)
    if not ends:
        best = _best(one, scores)
        return True, math.inf, chosen.sign * best if math.isfinite(best) else math.inf
    return failed > len(ends), chosen.sign * float(np.mean(ends)), 0.0
