"""Pairs of settings, each split in two: which explains most beyond the main effects, by permutation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.factors import Factor
from traindx.core.number_text import text

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

_CELL_LEAST = 3
_PERMUTATIONS = 999
_SURE = 0.01
_RIVAL = 4.0


@dataclass(frozen=True, eq=False)
class Split:
    """The runs of a factor in two parts, and what each part is called."""

    factor: Factor
    chosen: BoolArray
    name: str
    other: str

    def side(self, chosen: bool) -> tuple[BoolArray, str]:
        return (self.chosen, self.name) if chosen else (~self.chosen, self.other)


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of splits that fill their four cells, with their products free of the design, of length 1."""

    pairs: list[tuple[Split, Split]]
    products: FloatArray
    basis: FloatArray

    @classmethod
    def of(cls, factors: Sequence[Factor], fitted: FloatArray) -> Pairs:
        basis, weights, _ = np.linalg.svd(fitted, full_matrices=False)
        basis = basis[:, weights > 1e-9 * weights[0]]
        splits = [split for factor in factors for split in _splits(factor)]
        pairs, products = [], []
        for split, partner in combinations(splits, 2):
            if split.factor is partner.factor or min(_cells(split, partner)) < _CELL_LEAST:
                continue
            product = (split.chosen & partner.chosen).astype(np.float64)
            free = product - basis @ (basis.T @ product)
            if float(free @ free) > 0.05 * float(product @ product) * (1 - float(product.mean())):
                pairs.append((split, partner))
                products.append(free / np.sqrt(free @ free))
        return cls(pairs, np.array(products).reshape(len(pairs), -1), basis)

    def explained(self, residuals: FloatArray) -> FloatArray:
        """Of each column of residuals, the signed root of the share that each pair's product explains."""
        free = residuals - self.basis @ (self.basis.T @ residuals)
        length = np.sqrt((free**2).sum(axis=0))
        shares: FloatArray = self.products @ free / np.where(length > 0, length, 1.0)
        return shares


def _splits(factor: Factor) -> list[Split]:
    """Numbers below and above each of their levels; of other values, each against the rest."""
    splits = []
    numbers, last = factor.numbers, len(factor.names) - 1
    for at in range(last if last == 1 or numbers is not None else last + 1):
        if numbers is not None:
            chosen = factor.level <= at
            if chosen.any() and not chosen.all():
                splits.append(
                    Split(
                        factor,
                        chosen,
                        _below(factor.name, numbers[chosen]),
                        _above(factor.name, numbers[~chosen]),
                    )
                )
            continue
        name = f"{factor.name}={factor.names[at]}"
        other_name = f"{factor.name}={factor.names[1]}" if last == 1 else f"{factor.name}!={factor.names[at]}"
        splits.append(Split(factor, factor.level == at, name, other_name))
    return splits


def _below(name: str, numbers: FloatArray) -> str:
    return f"{name}{'=' if np.ptp(numbers) == 0 else '<='}{text(float(numbers.max()))}"


def _above(name: str, numbers: FloatArray) -> str:
    return f"{name}{'=' if np.ptp(numbers) == 0 else '>='}{text(float(numbers.min()))}"


def _cells(split: Split, partner: Split) -> list[int]:
    sides = [(a, b) for a in (split.chosen, ~split.chosen) for b in (partner.chosen, ~partner.chosen)]
    return [int((a & b).sum()) for a, b in sides]


def best_pair(pairs: Pairs, values: FloatArray, order: FloatArray) -> tuple[int, float] | None:
    """The pair that explains most, and its p: how often permuted residuals do so well anywhere."""
    if not pairs.pairs:
        return None
    basis = pairs.basis
    by_value, by_order = (
        pairs.explained((y - basis @ (basis.T @ y))[:, None])[:, 0] for y in (values, order)
    )
    at = int(np.argmax(np.abs(by_value)))
    rng = np.random.default_rng(0)
    residuals = values - basis @ (basis.T @ values)
    permuted = np.stack([rng.permutation(residuals) for _ in range(_PERMUTATIONS)], axis=1)
    largest = np.abs(pairs.explained(permuted)).max(axis=0)
    p = (1 + int((largest >= abs(by_value[at])).sum())) / (1 + _PERMUTATIONS)
    # On one scale alone, effects that merely add on another look like an interaction.
    has_same_sign = by_value[at] * by_order[at] * float(np.corrcoef(values, order)[0, 1]) > 0
    return (at, p) if p <= _SURE and has_same_sign else None


def rivals(pairs: Pairs, at: int, values: FloatArray) -> tuple[tuple[str, str], ...]:
    """Pairs of other settings that leave hardly more of the variance."""
    shares = pairs.explained((values - values.mean())[:, None])[:, 0] ** 2
    worse = values.size * (
        np.log1p(-np.minimum(shares, 1 - 1e-12)) - np.log1p(-min(float(shares[at]), 1 - 1e-12))
    )
    names = [(split.factor.name, partner.factor.name) for split, partner in pairs.pairs]
    near = [name for name, excess in zip(names, worse, strict=True) if excess < _RIVAL and name != names[at]]
    return tuple(dict.fromkeys(near))
