"""Two sets of results beside each other: how far apart, within what interval, and how surely."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import TYPE_CHECKING, Literal

import numpy as np

from traindx.evidence.stats.student import t_reach

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# Up to so many arrangements all are counted; beyond, so many are drawn.
_COUNTED_MOST = 20_000
_DRAWN = 10_000
_EQUAL = 1e-12


@dataclass(frozen=True)
class Difference:
    """The mean of one set minus that of another, with its interval.

    `p` is exact where the arrangements could be counted: the share of them that lie as far apart. It is
    1 where a set has too few values to tell. `low` and `high` are infinite then. `sign_p` is that of
    the sign test, for pairs only.
    """

    estimate: float
    low: float
    high: float
    p: float
    kind: Literal["paired", "unpaired", "within"]
    counts: tuple[int, int]
    sign_p: float | None = None

    @property
    def sure(self) -> bool:
        """Whether the interval leaves zero out."""
        return self.low > 0.0 or self.high < 0.0


def paired(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Difference:
    """`first - second`, pair by pair (the same seed, say): t interval and exact sign-flip test."""
    changes = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    size = changes.size
    mean = float(changes.mean()) if size else math.nan
    counts = (size, size)
    if size < 2:
        return Difference(mean, -math.inf, math.inf, 1.0, "paired", counts, sign_test(changes))
    reach = t_reach(confidence, size - 1) * float(changes.std(ddof=1)) / math.sqrt(size)
    return Difference(
        mean, mean - reach, mean + reach, sign_flip_test(changes), "paired", counts, sign_test(changes)
    )


def unpaired(first: Sequence[float], second: Sequence[float], confidence: float = 0.95) -> Difference:
    """`first - second` of sets that do not belong together: Welch interval and exact permutation test.

    A set of one value borrows its spread from the other.
    """
    a, b = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    counts = (int(a.size), int(b.size))
    mean = float(a.mean() - b.mean()) if a.size and b.size else math.nan
    if min(counts) < 1 or max(counts) < 2:
        return Difference(mean, -math.inf, math.inf, 1.0, "unpaired", counts)
    spreads = [float(part.var(ddof=1)) if part.size > 1 else math.nan for part in (a, b)]
    finite = [spread for spread in spreads if not math.isnan(spread)]
    squares = [
        (finite[0] if math.isnan(spread) else spread) / part.size
        for spread, part in zip(spreads, (a, b), strict=True)
    ]
    freedom = _freedom(squares, counts)
    reach = t_reach(confidence, freedom) * math.sqrt(sum(squares))
    return Difference(mean, mean - reach, mean + reach, permutation_test(a, b), "unpaired", counts)


def within(first: tuple[float, float], second: tuple[float, float], confidence: float = 0.95) -> Difference:
    """`first - second` of two levels with their standard errors: noise inside single runs only."""
    mean, error = first[0] - second[0], math.hypot(first[1], second[1])
    if not math.isfinite(error):
        return Difference(mean, -math.inf, math.inf, 1.0, "within", (1, 1))
    reach = t_reach(confidence, 1e6) * error
    p = math.erfc(abs(mean) / (error * math.sqrt(2.0))) if error > 0 else float(mean == 0)
    return Difference(mean, mean - reach, mean + reach, p, "within", (1, 1))


def _freedom(squares: Sequence[float], counts: tuple[int, int]) -> float:
    """Welch's degrees of freedom; what stands on one set alone has that set's."""
    if min(counts) < 2:
        return float(max(counts) - 1)
    total = sum(squares)
    if total <= 0:
        return float(sum(counts) - 2)
    return total**2 / sum(part**2 / (n - 1) for part, n in zip(squares, counts, strict=True))


def sign_test(changes: FloatArray | Sequence[float]) -> float:
    """Two-sided p of as many ups against downs by chance; no change counts for neither."""
    values = np.asarray(changes, dtype=np.float64)
    ups, downs = int((values > 0).sum()), int((values < 0).sum())
    size, fewer = ups + downs, min(ups, downs)
    if size == 0:
        return 1.0
    return min(1.0, 2.0 * sum(math.comb(size, k) for k in range(fewer + 1)) / 2.0**size)


def sign_flip_test(changes: FloatArray) -> float:
    """Two-sided p of a mean so far from zero when each change might as well have the other sign."""
    size = changes.size
    sums: FloatArray
    if 2**size <= _COUNTED_MOST:
        signs = np.array(list(product((1.0, -1.0), repeat=size)))
        sums = signs @ changes
        return _share(sums, float(changes.sum()))
    signs = np.random.default_rng(0).choice((1.0, -1.0), size=(_DRAWN, size))
    sums = np.append(signs @ changes, changes.sum())
    return _share(sums, float(changes.sum()))


def permutation_test(a: FloatArray, b: FloatArray) -> float:
    """Two-sided p of means so far apart when the values might as well be dealt out otherwise."""
    pooled = np.concatenate([a, b])
    pooled = pooled - pooled.mean()
    observed = float(pooled[: a.size].sum())
    if math.comb(pooled.size, a.size) <= _COUNTED_MOST:
        dealt = np.array(list(combinations(range(pooled.size), a.size)))
        return _share(pooled[dealt].sum(axis=1), observed)
    rng = np.random.default_rng(0)
    dealt = np.argpartition(rng.random((_DRAWN, pooled.size)), a.size - 1, axis=1)[:, : a.size]
    sums = pooled[dealt].sum(axis=1)
    return _share(np.append(sums, observed), observed)


def _share(sums: FloatArray, observed: float) -> float:
    """The share of arrangements that lie as far out as the one that was seen."""
    slack = _EQUAL * max(float(np.abs(sums).max()), abs(observed))
    return float((np.abs(sums) >= abs(observed) - slack).mean())
