"""The shapes a decay may have: searched on a grid, level and amplitude follow by least squares.

Three families: an exponential, an exponential after a ten times faster beginning, and a power law.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.stats.levels import independent_points, lag_one
from traindx.evidence.stats.scale import ROUNDING, spread

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# How much worse a fit may be: the 90 % point of chi-squared with two degrees of freedom, since besides
# the asymptote the form was chosen too.
_ALLOWED = 4.605
# No training follows a formula closer than to this share of its fall.
_MODEL_ERROR = 0.005
# Parts of the curve to leave out at its beginning, where it may follow no simple form yet.
_CUTS = (0.05, 0.15, 0.3, 0.5)
_FEWEST = 12
_RATES = np.geomspace(0.02, 300.0, 110)
_LATE_RATES = np.geomspace(0.7, 30.0, 40)
_EXPONENTS = np.geomspace(0.05, 3.0, 20)
_FINER, _FINER_ONSETS = np.geomspace(1 / 1.6, 1.6, 13), np.geomspace(0.4, 2.5, 11)


def search(x: FloatArray, y: FloatArray, weight: FloatArray, finest: float) -> ShapeSearch:
    """The fits to the longest last part of the curve that leaves residuals without a pattern.

    `x` runs from 0 to 1 over the curve; `finest` is the distance of two points.
    """
    whole = fit = ShapeSearch(x, y, weight, finest)
    for cut in _CUTS:
        late = x >= cut
        if fit.plain or not whole.falls() or late.sum() < max(_FEWEST, y.size // 4):
            break
        later = ShapeSearch(x[late], y[late], weight[late], finest)
        if later.falls():
            fit = later
    return fit


class ShapeSearch:
    """Least squares for every shape on the grid at once; far-off points count less."""

    def __init__(self, x: FloatArray, y: FloatArray, weight: FloatArray, finest: float) -> None:
        self.x, self.y, self.weight = x, y, weight
        self.drop = float(y.max() - y.min())
        none = np.zeros(_RATES.size + _LATE_RATES.size)
        self.rate, self.onset = np.concatenate([_RATES, _LATE_RATES]), none
        self.shapes = np.exp(-np.outer(self.rate, x))
        self.early = np.zeros_like(self.shapes)
        self.early[_RATES.size :] = np.exp(-10.0 * np.outer(_LATE_RATES, x))
        onsets = np.geomspace(0.1 * finest, 0.5, math.ceil(math.log2(5.0 / finest)) + 1)
        self._add_powers(_EXPONENTS, onsets)
        self._solve()
        size = spread(self.residuals)
        if size > ROUNDING:
            self.weight = weight / np.maximum(np.abs(self.residuals) / (2.5 * size), 1.0)
            self._solve()
        bent = np.where(self.onset > 0, self.error, np.inf)
        near = int(bent.argmin())
        if math.isfinite(bent[near]):
            # Exponent and onset make up for each other: a coarse grid would settle at a wrong pair.
            self._add_powers(self.rate[near] * _FINER, self.onset[near] * _FINER_ONSETS)
            self._solve()

    def _add_powers(self, exponents: FloatArray, onsets: FloatArray) -> None:
        """Power laws of all these exponents and onsets join the grid."""
        exponent, onset = (grid.ravel() for grid in np.meshgrid(exponents, onsets))
        bent = np.exp(-exponent[:, None] * np.log1p(self.x / onset[:, None]))
        self.rate = np.concatenate([self.rate, exponent])
        self.onset = np.concatenate([self.onset, onset])
        self.shapes = np.concatenate([self.shapes, bent])
        self.early = np.concatenate([self.early, np.zeros_like(bent)])

    def _solve(self) -> None:
        """Asymptote, amplitude and squared error per shape; what is left by the best one."""
        error, self.asymptote, self.amplitude, self.room, rests = self._fit(self.shapes, self.early)
        self.error = np.where(self.amplitude > 0, error, np.inf)
        self.best = int(self.error.argmin())
        self.residuals = rests[self.best]
        worth = independent_points(lag_one(self.residuals - self.residuals.mean()), self.y.size, 3.0)
        self.freedom = max(worth - 3.0, 1.0)
        size = math.sqrt(float((self.residuals * self.residuals).mean()))
        # Many residuals worth few independent ones follow a pattern.
        self.plain = worth > 0.4 * self.y.size or size < _MODEL_ERROR * self.drop

    def _fit(
        self, shapes: FloatArray, early: FloatArray
    ) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray, FloatArray]:
        """Squared error, asymptote, amplitude, the asymptote's own uncertainty, and the residuals."""
        w = self.weight / float(self.weight.sum())
        off = self.y - float((self.y * w).sum())
        first, first_mean = _centred(early, w)
        first_power = np.maximum((first * first * w).sum(axis=1), 1e-300)
        apart, mean = _centred(shapes, w)
        shared = (apart * first * w).sum(axis=1) / first_power
        own = apart - shared[:, None] * first
        power = np.maximum((own * own * w).sum(axis=1), 1e-300)
        amplitude = (own * (off * w)).sum(axis=1) / power
        beginning = (first * (off * w)).sum(axis=1) / first_power - shared * amplitude
        residuals = off - amplitude[:, None] * apart - beginning[:, None] * first
        error = (residuals * residuals * w).sum(axis=1)
        # A beginning that has to be below the late course is no beginning.
        error[beginning < 0] = np.inf
        asymptote = float((self.y * w).sum()) - amplitude * mean - beginning * first_mean
        room = np.sqrt(1.0 + first_mean**2 / first_power + (mean - shared * first_mean) ** 2 / power)
        return error, asymptote, amplitude, room, residuals

    def falls(self) -> bool:
        """Whether a decay tells most of the curve, and better than a fall that grows ever faster."""
        least = float(self.error[self.best])
        if not math.isfinite(least):
            return False
        shapes = np.exp(np.outer((0.5, 1.0, 2.0, 4.0, 8.0), self.x))
        faster, _, amplitude, _, _ = self._fit(shapes, np.zeros_like(shapes))
        limit = least / (1.0 + _ALLOWED / self.freedom)
        if (faster[amplitude < 0] < limit).any():
            return False
        w = self.weight / float(self.weight.sum())
        off = self.y - float((self.y * w).sum())
        return least < 0.5 * float((off * off * w).sum())

    def allowed(self) -> tuple[list[int], float, float]:
        """Shapes the points allow, best first, and the lowest and highest asymptote among them."""
        least = float(self.error[self.best])
        limit = least + max(least * _ALLOWED / self.freedom, (_MODEL_ERROR * self.drop) ** 2)
        near = np.flatnonzero(self.error <= limit)
        # Within each shape the asymptote may move as far as the rest of the allowance goes.
        reach = self.room[near] * np.sqrt(limit - self.error[near])
        low, high = self.asymptote[near] - reach, self.asymptote[near] + reach
        order = near[np.argsort(self.error[near], kind="stable")]
        return [int(i) for i in order], float(low.min()), float(high.max())


def _centred(shapes: FloatArray, weight: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The shapes around their weighted means, and the means."""
    mean = (shapes * weight).sum(axis=1)
    return shapes - mean[:, None], mean
