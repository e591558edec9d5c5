"""Validation curves: their levels at the steps of the training, and where they turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence import stats
from traindx.evidence.case import Case, Curve
from traindx.evidence.scores import ANSWER_ERRORS, SCORES

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# A PSNR beyond this is none.
_DECIBELS = 200.0
# The share of errors that is an improvement.
_FEWER_ERRORS = 0.05
ERRORS = ("perplexity", "bits_per_byte", "error", "wer", "cer", "mse", "rmse", "mae")


def steps_on(curve: Curve, reference: Curve) -> FloatArray:
    """The steps of a curve on the axis of another; by their share of the way when they count differently.

    An evaluation stands at the end of its stretch: the first of ten at a tenth of the way.
    """
    if curve.axis == reference.axis or not len(curve) or not len(reference):
        return curve.x
    start, end = float(reference.x[0]), float(reference.x[-1])
    gap = float(np.median(np.diff(curve.x))) if len(curve) > 1 else 1.0
    way = (curve.x - curve.x[0] + gap) / max(float(curve.x[-1] - curve.x[0]) + gap, 1e-300)
    moved: FloatArray = start + way * (end - start)
    return moved


def evaluations(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Steps and values of a validation curve, in at most 160 stretches."""
    shape = stats.bins(curve.x, curve.y, 160)
    return shape.step, shape.median


def levels_at(curve: Curve, steps: FloatArray) -> FloatArray:
    """The level a curve had at the given steps of its own axis."""
    shape = curve.coarse
    levels: FloatArray = np.interp(steps, shape.step, shape.median)
    return levels


def last_level(values: FloatArray) -> float:
    """The median of the last tenth: of a single point where there are few."""
    return float(np.median(values[-max(1, values.size // 10) :]))


def largest_rise(values: FloatArray) -> float:
    """The largest way up from any value to a later one; 0 when they only fall."""
    return float((values - np.minimum.accumulate(values)).max()) if values.size else 0.0


def running_median(values: FloatArray, width: int) -> FloatArray:
    """The median of the `width` points around each; at the ends of those that are there."""
    if width <= 1 or values.size < width:
        return values
    half = width // 2
    inner = np.median(np.lib.stride_tricks.sliding_window_view(values, width), axis=1)
    left = [float(np.median(values[: i + half + 1])) for i in range(half)]
    right = [float(np.median(values[i - half :])) for i in range(values.size - half, values.size)]
    smooth: FloatArray = np.concatenate([left, inner, right])
    return smooth


def validation_curves(case: Case) -> list[Curve]:
    """Everything measured on validation data that measures how good the model is, the loss first."""
    curves = [case.val_loss, *(case.val(name) for name in (*SCORES, *ERRORS))]
    return [curve for curve in curves if curve is not None and len(curve)]


def holding_score(case: Case, since: float, *, improved: bool = False) -> Curve | None:
    """A validation score, or an error of the answers such as WER, that ends at its best although the loss
    does not; with `improved` one that got better since a step, by a share of its errors and beyond noise."""
    for name in (*SCORES, "score", *ANSWER_ERRORS):
        curve = case.val(name)
        if curve is None or len(curve) < 3:
            continue
        sign = -1.0 if name in ANSWER_ERRORS else 1.0
        best = float(running_median(sign * curve.coarse.median, 3).max())
        then = sign * float(np.median(curve.y[np.abs(curve.x - since).argsort()[:3]]))
        now = sign * float(np.median(curve.y[-max(3, len(curve) // 10) :]))
        wrong = 1.0 - then if 0 < then < 1 else abs(then)
        least = max(_FEWER_ERRORS * wrong, 2.0 * curve.noise) if improved else -np.inf
        if now >= best - max(2.0 * curve.noise, 0.01 * abs(best)) and now - then >= least:
            return curve
    return None


@dataclass(frozen=True)
class Turn:
    """Where a validation curve was best, and its rise since: as a share of its level (`relative`) and of
    the fall before (`lost`); all as "lower is better", but for `level`: where the curve itself ends."""

    step: float
    best: float
    last: float
    relative: float
    lost: float
    z: float
    level: float


def turn_of(curve: Curve) -> Turn:
    """The best stretch, the last one, and whether the difference is more than noise and wander."""
    steps, levels = evaluations(curve)
    values = levels
    if curve.name.endswith("psnr"):
        values = 10.0 ** (-np.clip(values, -_DECIBELS, _DECIBELS) / 10.0)  # the error that it stands for
    elif curve.goal == "higher":
        values = -values
    size = values.size
    width = 1 if size < 8 else 2 * (size // 40) + 3
    smooth = running_median(values, width)
    at = int(smooth.argmin())
    low, last = float(smooth[at]), float(np.median(values[-max(width, size // 10) :]))
    one_sign = bool((values > 0).all() or (values < 0).all())
    scale = abs(low) if one_sign else float(np.ptp(values))
    z = _significance(values, smooth, at, width)
    first, end = max(0, at - width // 2), min(size, at + width // 2 + 1)
    best = first + int(values[first:end].argmin())
    relative = (last - low) / scale if scale > 0 else 0.0
    lost = (last - low) / max(float(smooth[0]) - low, last - low, 1e-300)
    level = float(np.median(levels[-max(width, size // 10) :]))
    return Turn(float(steps[best]), float(values[best]), last, relative, lost, z, level)


def _significance(values: FloatArray, smooth: FloatArray, at: int, width: int) -> float:
    """z of the rise since the best stretch; 0 where it may be wander, or where too few points tell."""
    after = smooth[at:]
    climbs = after.size >= 3 and bool((np.diff(after) > 0).all())
    if values.size < 5:
        return 99.0 if climbs else 0.0
    count = max(width, values.size // 10)
    rise = float(np.median(values[-count:])) - float(smooth[at])
    error = 1.25 * stats.noise(values) * float(np.sqrt(1.0 / width + 1.0 / count))
    z = min(rise / error, 99.0) if error > 0 else 99.0
    way = float(np.abs(np.diff(after)).sum())
    near = smooth[: at + 1][smooth[: at + 1] <= smooth[at] + 3.0 * rise]
    if rise < 0.35 * way or rise < 2.0 * largest_rise(near):
        return 0.0
    if values.size < 8:
        return 99.0 if climbs else z if after.size >= 3 else 0.0
    return z
