"""What a range test supports: a range of rates with its uncertainty, or why it gives none."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from traindx.experiment.lr_find.ramps import Levelled, Ramps, levelled
from traindx.experiment.lr_find.shape import RampShape, calmed, shape_of

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

Verdict = Literal[
    "range", "flat", "noisy", "no_edge", "diverges_at_once", "not_finite", "too_few_steps", "seeds_disagree"
]
Standing = Literal["too_low", "inside", "too_high", "unstable"]
STEPS_LEAST = 40
# The upper end is midway from where the loss falls to where it rises, at least so far below the latter;
# the lower end so far below the upper: measured on trainings of many kinds (benchmarks/README.md).
_HIGH_BELOW_EDGE = 2.5
_WIDTH = 4.0
_DRAWS = 200
_CHANCES = 100
_BLOCK = 5
_SMALLEST_FALL = math.log(1.02)
_WIDEST = 10.0


@dataclass(frozen=True)
class Estimate:
    """A rate with the interval that holds it in nine of ten repeats; an end is inf where none was found."""

    value: float
    low: float
    high: float

    def over(self, factor: float) -> Estimate:
        return Estimate(self.value / factor, self.low / factor, self.high / factor)


@dataclass(frozen=True, eq=False)
class RangeAnswer:
    """The result; `low`, `high` and `edge` (the largest stable rate) are there with the verdict `range`.

    `drop` is the share of the loss that the ramp took away at its lowest, `noise` the share a single
    step's loss jitters by; without a natural zero of the loss both are in its own units. `blur` is the
    noise of the mean curve as a share of its fall.
    """

    verdict: Verdict
    reason: str
    ramps: Ramps
    curve: FloatArray | None = None
    drop: float = 0.0
    noise: float = 0.0
    relative: bool = True
    blur: float = 0.0
    begins: Estimate | None = None
    low: Estimate | None = None
    high: Estimate | None = None
    edge: Estimate | None = None
    current: float | None = None

    @property
    def found(self) -> bool:
        return self.verdict == "range"

    @property
    def standing(self) -> Standing | None:
        """Where the current learning rate is."""
        if self.current is None or self.low is None or self.high is None or self.edge is None:
            return None
        if self.current > self.edge.value:
            return "unstable"
        if self.current > self.high.value:
            return "too_high"
        return "too_low" if self.current < self.low.value else "inside"


def answer(ramps: Ramps, current: float | None = None) -> RangeAnswer:
    """Judge the ramps of all seeds together."""
    first = ramps.losses[:, : min(3, ramps.steps)]
    if ramps.steps and not np.isfinite(first).all(axis=1).any():
        return RangeAnswer(
            "not_finite", "the loss is not finite from the first steps on", ramps, current=current
        )
    if ramps.steps < STEPS_LEAST:
        return RangeAnswer(
            "too_few_steps",
            f"{ramps.steps} steps were taken; a range test needs at least {STEPS_LEAST}, better 150",
            ramps,
            current=current,
        )
    levels = levelled(ramps)
    noise = levels.noise / math.sqrt(ramps.seeds)
    shape = shape_of(levels.rates, levels.mean, noise=noise)
    verdict, reason = _supported(levels, shape, noise)
    ends = _intervals(levels, noise) if verdict in ("range", "no_edge") else {}
    edge = _estimate(shape.edge, ends.get("edge"))
    if verdict == "range" and edge is not None and edge.high > _WIDEST * edge.low:
        verdict, reason = (
            "seeds_disagree",
            (f"the seeds do not agree where it becomes unstable: {edge.low:.2g} to {edge.high:.2g}"),
        )
    reported_edge = edge if verdict == "range" else None
    high = None if reported_edge is None else _estimate(_upper_end(shape), ends.get("high"))
    return RangeAnswer(
        verdict,
        reason,
        ramps,
        curve=_as_losses(levels, shape.curve),
        drop=1.0 - math.exp(-shape.drop) if levels.logarithmic else shape.drop,
        noise=math.expm1(levels.raw_noise) if levels.logarithmic else levels.raw_noise,
        relative=levels.logarithmic,
        blur=noise / max(shape.drop, noise, 1e-12),
        begins=_estimate(shape.begins, ends.get("begins")),
        low=None if high is None else high.over(_WIDTH),
        high=high,
        edge=reported_edge,
        current=current,
    )


def _supported(levels: Levelled, shape: RampShape, noise: float) -> tuple[Verdict, str]:
    chance = _drop_by_chance(levels, shape)
    rose = float(shape.curve[-1]) > max(_SMALLEST_FALL, 4.0 * noise)
    smallest = _SMALLEST_FALL if levels.logarithmic else 0.0
    fall = _fall_text(levels, shape.drop)
    if shape.drop <= max(chance, smallest):
        if rose and shape.edge is not None and shape.edge < levels.rates[levels.rates.size // 4]:
            return "diverges_at_once", f"the loss rises among the smallest rates tried, near {shape.edge:.2g}"
        if shape.drop > smallest or noise > smallest:
            jitter = _fall_text(levels, chance)
            return (
                "noisy",
                f"the loss fell by {fall} at most; noise alone makes {jitter} look like a fall",
            )
        return "flat", f"the loss hardly answers to the rate: it fell by {fall} at most"
    if shape.edge is None:
        top = levels.rates[-1]
        return "no_edge", f"the loss was still falling or level at the largest rate tried, {top:.3g}"
    return "range", f"the loss fell by {fall} and rose again"


def _fall_text(levels: Levelled, drop: float) -> str:
    return f"{100.0 * (1.0 - math.exp(-max(drop, 0.0))):.2g} %" if levels.logarithmic else f"{drop:.3g}"


def _drop_by_chance(levels: Levelled, shape: RampShape) -> float:
    """The fall that the same treatment finds in noise alone, in 99 of 100 cases less.

    Noise is what is left over around the fitted curve, or how far the loss wanders while the rate is still
    too small to matter: batches that come in an order wander, too.
    """
    rng = np.random.default_rng(0)
    size = levels.rates.size
    until = max(int(np.argmin(shape.curve)) + 1, size // 4)
    residuals = (levels.mean - shape.curve)[:until]
    falls = [
        shape_of(levels.rates, rng.choice(residuals, size) - float(np.median(residuals)), noise=0.0).drop
        for _ in range(_CHANCES)
    ]
    early = calmed(levels.mean)[: max(size // 6, _BLOCK)]
    return max(float(np.percentile(falls, 99)), 3.0 * float(np.std(early)))


def _intervals(levels: Levelled, noise: float) -> dict[str, tuple[float, float]]:
    """Landmarks of resampled curves: seeds with replacement, leftovers by blocks with either sign."""
    rng = np.random.default_rng(0)
    seeds, size = levels.values.shape
    calm = np.array([calmed(row) for row in levels.values])
    residuals = levels.values - calm
    samples: dict[str, list[float]] = {"begins": [], "high": [], "edge": []}
    blocks = -(-size // _BLOCK)
    for _ in range(_DRAWS):
        chosen = rng.integers(seeds, size=seeds)
        signs = rng.choice((-1.0, 1.0), size=(seeds, blocks)).repeat(_BLOCK, axis=1)[:, :size]
        drawn = (calm[chosen] + signs * residuals[chosen]).mean(axis=0)
        shape = shape_of(levels.rates, drawn, noise=noise)
        samples["begins"].append(shape.begins or math.inf)
        samples["edge"].append(shape.edge or math.inf)
        samples["high"].append(_upper_end(shape) or math.inf)
    widen = math.sqrt(seeds / (seeds - 1)) if seeds > 1 else 1.0
    return {name: _middle_of(np.array(values), widen) for name, values in samples.items()}


def _middle_of(values: FloatArray, widen: float) -> tuple[float, float]:
    """The middle nine tenths; few seeds show less than all of the spread, so it is widened."""
    low, middle, high = np.quantile(values, [0.05, 0.5, 0.95], method="nearest").tolist()
    if not math.isfinite(middle):
        return low, math.inf
    return middle * (low / middle) ** widen, middle * (high / middle) ** widen


def _estimate(value: float | None, ends: tuple[float, float] | None) -> Estimate | None:
    if value is None:
        return None
    low, high = ends or (value, value)
    return Estimate(value, min(low, value), max(high, value))


def _upper_end(shape: RampShape) -> float | None:
    if shape.edge is None or shape.falls is None:
        return None
    return min(math.sqrt(shape.falls * shape.edge), shape.edge / _HIGH_BELOW_EDGE)


def _as_losses(levels: Levelled, curve: FloatArray) -> FloatArray:
    """The fitted curve in units of the loss."""
    raised: FloatArray = curve + levels.start
    return np.exp(raised) if levels.logarithmic else raised
