"""Decay: where a falling curve is heading, and when it would arrive.

Every shape that the points allow adds to the interval, so it also holds what the choice of the form
leaves open.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from traindx.evidence.stats.scale import back, spread, unit
from traindx.evidence.stats.shapes import search
from traindx.evidence.stats.stretches import median_of_three
from traindx.evidence.stats.trends import trend

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

Form = Literal["exponential", "power"]
_FEWEST = 6
_STRETCHES = 60


@dataclass(frozen=True)
class Fit:
    """One curve that agrees with the points: asymptote + amplitude * shape(step)."""

    asymptote: float
    amplitude: float
    rate: float
    form: Form
    origin: float
    span: float

    def at(self, step: float) -> float:
        """The value at a step."""
        passed = max((step - self.origin) / self.span, 0.0)
        shape = -self.rate * (passed if self.form == "exponential" else math.log1p(passed))
        return self.asymptote + self.amplitude * math.exp(shape)

    def reach(self, target: float) -> float:
        """The step at which the curve meets the target; inf when never."""
        # Values near the smallest float leave no room between target and asymptote.
        share = (target - self.asymptote) / self.amplitude if self.amplitude > 0 else 0.0
        if target <= self.asymptote or share <= 0:
            return math.inf
        wait = -math.log(share) / self.rate
        if self.form == "exponential":
            return self.origin + wait * self.span
        return self.origin + self.span * math.expm1(wait) if wait < 600.0 else math.inf


@dataclass(frozen=True)
class Decay:
    """The asymptote with its 90 % interval, how fast, the form, and the typical distance of a point.

    `rate` is per step for the exponential form, and the exponent for the power law. `fits` are the
    curves that agree with the points, the best first.
    """

    asymptote: float
    low: float
    high: float
    rate: float
    form: Form
    error: float
    fits: tuple[Fit, ...] = ()

    def at(self, step: float) -> float:
        """The value of the best curve at a step."""
        return self.fits[0].at(step)


def decay(steps: FloatArray, values: FloatArray) -> Decay | None:
    """Extrapolates a falling curve; None when it does not fall, turns up again or falls ever faster.

    A rising curve that flattens is a decay when negated.
    """
    if values.size < _FEWEST or not steps[-1] > steps[0]:
        return None
    x, y, weight = _coarse(steps, values)
    scaled, exponent = unit(y)
    if x.size < _FEWEST or _turns_up(scaled):
        return None
    going = trend(steps, values)
    if not (going.p < (0.01 if values.size >= 30 else 0.05) and going.change < 0):
        return None
    origin, span = float(steps[0]), float(steps[-1] - steps[0])
    shape = search((x - origin) / span, scaled, weight, 1.0 / values.size)
    if not shape.falls():
        return None
    near, low, high = shape.allowed()
    fits = tuple(
        Fit(
            back(float(shape.asymptote[i]), exponent),
            back(float(shape.amplitude[i]), exponent),
            float(shape.rate[i]),
            "power" if shape.onset[i] else "exponential",
            origin,
            span * float(shape.onset[i] or 1.0),
        )
        for i in near
    )
    best = fits[0]
    return Decay(
        asymptote=best.asymptote,
        low=back(low, exponent),
        high=back(high, exponent),
        rate=best.rate / span if best.form == "exponential" else best.rate,
        form=best.form,
        error=back(spread(shape.residuals), exponent),
        fits=fits,
    )


def _coarse(steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Steps, medians and weights of stretches that are short where the curve is young."""
    size = values.size
    marks = np.concatenate([np.linspace(0, size, _STRETCHES + 1), np.geomspace(1, size, _STRETCHES)])
    edges = np.unique(np.round(marks).astype(np.int64))
    if size <= edges.size:
        return steps, values, np.ones(size)
    pairs = [(int(a), int(b)) for a, b in itertools.pairwise(edges)]
    x = np.array([0.5 * steps[a] + 0.5 * steps[b - 1] for a, b in pairs])
    scaled, exponent = unit(values)
    y = np.ldexp(np.array([np.median(scaled[a:b]) for a, b in pairs]), exponent)
    weight = np.sqrt(np.diff(edges).astype(np.float64))
    return x, y, weight / weight.mean()


def _turns_up(y: FloatArray) -> bool:
    """Whether the curve has left its lowest level upwards for good."""
    calm = np.concatenate([y[:1], median_of_three(y[:-2], y[1:-1], y[2:]), y[-1:]])
    lowest = int(calm.argmin())
    after = calm[lowest:]
    if after.size < max(4, y.size // 10):
        return False
    rise = float(np.median(after[-max(3, after.size // 4) :]) - calm[lowest])
    drop = float(calm[: max(lowest, 1)].max() - calm[lowest])
    return rise > max(0.1 * drop, 6.0 * spread(np.diff(y[lowest:])) / math.sqrt(2.0))


def time_to(decay: Decay, now: float, target: float) -> tuple[float, float, float] | None:
    """Steps from `now` until the target is reached: best guess, soonest, latest; inf when never."""
    if not decay.fits or not (math.isfinite(now) and math.isfinite(target)):
        return None
    waits = [max(fit.reach(target) - now, 0.0) for fit in decay.fits]
    return waits[0], min(waits), max(waits)
