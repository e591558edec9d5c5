"""Ramps of one training: the same rates for every seed, and the loss each step began with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence import stats

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# A loss this many times its start has diverged, whatever follows.
DIVERGED = 4.0
# A loss this small relative to its start is as good as none: how small says nothing about the learning rate.
SOLVED = 0.02
_START_SHARE = 0.1
_START_LEAST = 5
_PIECES = 8


@dataclass(frozen=True, eq=False)
class Ramps:
    """`rates` of each step; `losses` one row a seed, not finite from where it broke.

    The loss of a step is measured before the step is taken: it shows what the rates before it did.
    `controls` are the losses of the same batches under the weights at the start; NaN where not measured.
    """

    rates: FloatArray
    losses: FloatArray
    controls: FloatArray

    @classmethod
    def of(
        cls,
        rates: FloatArray,
        losses: Sequence[Sequence[float] | FloatArray],
        controls: Sequence[Sequence[float] | FloatArray] = (),
    ) -> Ramps:
        """Rows of any length: one that ends early has broken there."""
        rows, control_rows = np.full((2, len(losses), rates.size), np.nan)
        for row, values in [*zip(rows, losses, strict=True), *zip(control_rows, controls, strict=False)]:
            curve = np.asarray(values, dtype=np.float64)[: rates.size]
            row[: curve.size] = curve
        return cls(rates, rows, control_rows)

    @property
    def seeds(self) -> int:
        return int(self.losses.shape[0])

    @property
    def steps(self) -> int:
        return int(self.rates.size)

    @property
    def start_steps(self) -> int:
        """Steps whose rate is small enough that the loss still is where it began."""
        return min(max(_START_LEAST, round(_START_SHARE * self.steps)), self.steps)


@dataclass(frozen=True, eq=False)
class Levelled:
    """Losses on one scale: zero where they began, cut off at the ceiling where they have diverged.

    `logarithmic` unless a loss is not above zero. `noise` is of one step of one seed, in the same units;
    `raw_noise` before the control was taken off.
    """

    rates: FloatArray
    values: FloatArray
    logarithmic: bool
    noise: float
    raw_noise: float
    start: float

    @property
    def mean(self) -> FloatArray:
        together: FloatArray = self.values.mean(axis=0)
        return together


def levelled(ramps: Ramps) -> Levelled:
    """Every seed on the common scale; what broke is at the ceiling from there on."""
    finite = np.isfinite(ramps.losses)
    logarithmic = _above_zero(ramps.losses) and _above_zero(ramps.controls)
    scaled, controls = (np.where(np.isfinite(a), a, np.nan) for a in (ramps.losses, ramps.controls))
    if logarithmic:
        scaled, controls = np.log(scaled), np.log(controls)
    raw_noise = _noise(scaled)
    scaled = np.array([_without_batches(row, control) for row, control in zip(scaled, controls, strict=True)])
    starts = np.nanmedian(scaled[:, : ramps.start_steps], axis=1)
    scaled = scaled - starts[:, None]
    ceiling = math.log(DIVERGED) if logarithmic else _far(scaled)
    floor = math.log(SOLVED) if logarithmic else -math.inf
    values = np.clip(np.where(np.isnan(scaled), ceiling, scaled), floor, ceiling)
    for row, is_finite in zip(values, finite, strict=True):
        broken = np.flatnonzero(~is_finite)
        if broken.size:
            row[broken[0] :] = ceiling
    return Levelled(ramps.rates, values, logarithmic, _noise(values), raw_noise, float(np.median(starts)))


def _above_zero(losses: FloatArray) -> bool:
    finite = losses[np.isfinite(losses)]
    return not finite.size or float(finite.min()) > 0.0


def _without_batches(row: FloatArray, control: FloatArray) -> FloatArray:
    """What is hard or easy about each batch, taken off as far as the control still shows it there.

    The longer it has trained, the less a batch's loss resembles what it was at the start: the share is
    measured piece by piece, on bends, which no trend has.
    """
    finite = np.isfinite(row) & np.isfinite(control)
    if finite.sum() < 3 * _PIECES:
        return row
    places = np.flatnonzero(finite)
    shares, centres = [], []
    for piece in np.array_split(places, _PIECES):
        ramp_bends, control_bends = (_bends(values[piece]) for values in (row, control))
        power = float(control_bends @ control_bends)
        shares.append(min(max(float(ramp_bends @ control_bends) / power, 0.0), 1.0) if power > 0 else 0.0)
        centres.append(float(piece.mean()))
    share = np.interp(np.arange(row.size), centres, shares)
    off = np.where(finite, control - float(np.mean(control[finite])), 0.0)
    return row - share * off


def _bends(values: FloatArray) -> FloatArray:
    """Second differences, the wildest cut: one spike must not decide."""
    bends = values[2:] - 2.0 * values[1:-1] + values[:-2]
    reach = 4.0 * float(np.median(np.abs(bends))) if bends.size else 0.0
    cut: FloatArray = np.clip(bends, -reach, reach)
    return cut


def _far(scaled: FloatArray) -> float:
    """Without a natural scale, a rise as large as the deepest fall is far."""
    low = float(np.nanpercentile(scaled, 5))
    return max(-low, 10.0 * _noise(scaled), 1e-12)


def _noise(rows: FloatArray) -> float:
    """Of one step: the middle of the seeds, without what is at the ceiling or broke."""
    estimates = []
    for row in rows:
        moving = row[np.isfinite(row)]
        moving = moving[: int(np.argmax(moving)) + 1] if moving.size and moving.max() > 1.0 else moving
        if moving.size >= 8:
            estimates.append(stats.noise(moving))
    return float(np.median(estimates)) if estimates else 0.0
