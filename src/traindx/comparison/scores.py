"""How one run did on the metric: final, best, at given steps and times, how steadily, with what gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.metric import Chosen
from traindx.comparison.subjects import Subject
from traindx.core.clocks import clocks, duration
from traindx.core.names import parts
from traindx.evidence import stats
from traindx.evidence.case import Curve
from traindx.evidence.stats.levels import without_line

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_POINTS_FOR_NOISE = 5
_STILL_FALLS = 0.02


@dataclass(frozen=True)
class ScoreLevel:
    """A value and the standard error that the noise around it gives; infinite for too few points."""

    value: float
    error: float = math.inf

    @property
    def known(self) -> bool:
        return math.isfinite(self.value)


@dataclass(frozen=True)
class Score:
    """The result of one run. `ended` is False when the metric or the loss ended in NaN or Inf.

    `rough` is the point-to-point noise as a share of what was gained; `spikes` are of the training
    loss. `seconds` is how long it ran, where the log tells.
    """

    final: ScoreLevel
    best: float
    best_step: float
    last_step: float
    points: int
    ended: bool
    broken_from: float | None
    rough: float | None
    spikes: int
    broken: int
    gap: float | None
    improving: bool
    seconds: float | None


def score(run: Subject, chosen: Chosen) -> Score | None:
    """The score of a run; None when it lacks the metric."""
    curve = run.curve(chosen.name)
    if curve is None or not len(curve.series):
        return None
    loss = run.case.loss
    broken_from = _broken_from(curve, loss)
    final = level_at(curve) if broken_from is None else ScoreLevel(math.nan)
    if not len(curve):
        final, best, best_step = ScoreLevel(math.nan), math.nan, math.nan
    else:
        best, best_step = curve.best, curve.best_step
    return Score(
        final=final,
        best=best,
        best_step=best_step,
        last_step=float(curve.series.steps[-1]),
        points=len(curve),
        ended=broken_from is None and len(curve) > 0,
        broken_from=broken_from,
        rough=_rough(curve),
        spikes=len(loss.spikes) if loss is not None and len(loss) > 8 else 0,
        broken=curve.broken + (loss.broken if loss is not None and loss is not curve else 0),
        gap=_gap(run, chosen, final),
        improving=_improving(curve, chosen),
        seconds=duration(run.run),
    )


def level_at(curve: Curve, step: float = math.inf) -> ScoreLevel:
    """The level over the last tenth of the points at or before a step; trend within it left aside."""
    end = int(np.searchsorted(curve.x, step, side="right"))
    if end == 0:
        return ScoreLevel(math.nan)
    width = max(1, min(end, max(3, end // 10)))
    window = curve.y[end - width : end]
    if width < 3:
        window = curve.y[end - 1 : end]
    if end < _POINTS_FOR_NOISE:
        return ScoreLevel(float(curve.y[end - 1]))
    return _end_of(window, stats.noise(curve.y[:end]))


def _end_of(window: FloatArray, noise: float) -> ScoreLevel:
    """The median of a window; where it rises or falls beyond its noise, the end of the line through it."""
    middle, size = float(np.median(window)), window.size
    straight = without_line(window)
    climbed = float((window - straight)[-1] - (window - straight)[0])
    if size >= 8:
        _, error = stats.level(straight + middle)
    else:
        error = 1.2533 * noise / math.sqrt(size)
    if abs(climbed) <= 2.0 * noise:
        return ScoreLevel(middle, error)
    # The end of a line is known half as well as its middle.
    return ScoreLevel(float((window - straight)[-1]), 2.0 * error)


def clock(run: Subject, curve: Curve) -> FloatArray | None:
    """Seconds since the start of the run at each finite point of a curve."""
    times = curve.series.times
    known_times = clocks(run.run)
    if times is None or not known_times:
        return None
    passed: FloatArray = times[curve.finite] - min(float(clock_times.min()) for clock_times in known_times)
    return passed if passed.size and np.isfinite(passed).all() and passed[-1] > 0 else None


def level_at_time(run: Subject, curve: Curve, seconds: float) -> ScoreLevel:
    """The level when so many seconds had passed."""
    passed = clock(run, curve)
    if passed is None:
        return ScoreLevel(math.nan)
    end = int(np.searchsorted(passed, seconds, side="right"))
    return level_at(curve, float(curve.x[end - 1])) if end else ScoreLevel(math.nan)


def reached(curve: Curve, target: float, sign: float) -> float | None:
    """The step at which the smoothed curve first is at the target or better."""
    if not len(curve):
        return None
    levels = sign * curve.coarse.median
    hits = np.flatnonzero(levels <= sign * target)
    return float(curve.coarse.step[hits[0]]) if hits.size else None


def _broken_from(curve: Curve, loss: Curve | None) -> float | None:
    """The step from which the metric, or the training loss, is not finite until its end."""
    for candidate in (curve, loss):
        if candidate is None or not len(candidate.series) or candidate.finite[-1]:
            continue
        last = np.flatnonzero(candidate.finite)
        at = int(last[-1]) + 1 if last.size else 0
        return float(candidate.series.steps[at])
    return None


def _rough(curve: Curve) -> float | None:
    if len(curve) < _POINTS_FOR_NOISE:
        return None
    gained = float(np.abs(curve.coarse.median - curve.head).max())
    return float(curve.noise / gained) if gained > 0 else None


def _gap(run: Subject, chosen: Chosen, final: ScoreLevel) -> float | None:
    """Validation minus training of the same metric, at the end; positive when validation is worse."""
    name_parts = parts(chosen.name)
    plain = name_parts.metric + (f"/{name_parts.part}" if name_parts.part else "")
    is_validation = name_parts.split in ("val", "test")
    partner = run.curve(plain if is_validation else f"val/{plain}")
    if partner is None or not len(partner) or not final.known:
        return None
    level = level_at(partner).value
    validation, training = (final.value, level) if is_validation else (level, final.value)
    return chosen.sign * (validation - training)


def _improving(curve: Curve, chosen: Chosen) -> bool:
    """Whether the last quarter still gained, beyond its noise, a fiftieth of all that was gained."""
    if len(curve) < 12:
        return False
    quarter = len(curve) // 4
    before, after = curve.y[-2 * quarter : -quarter], curve.y[-quarter:]
    z = stats.significant_rise(before, after)
    gained = chosen.sign * float(np.median(before) - np.median(after))
    whole = abs(curve.head - curve.best)
    return chosen.sign * z < -2.5 and gained > _STILL_FALLS * whole
