"""A loss that ends above its best level: how far, how surely, how fast."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence import stats
from traindx.evidence.case import Case, Curve

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

# A score logged so many times less often than the loss comes from an evaluation.
_EVALUATED_APART = 8


@dataclass(frozen=True)
class Rise:
    """From the best level to the level at the end.

    `ratio` is end over best (for losses that may be negative: 1 + the rise over the fall before it);
    `lost` the share of the progress that was lost again; `width` how much of the run half of it took;
    `mending` whether it falls again after its peak; `climbs` how often it rose so far in the whole run;
    `from_first` whether only the very first value was low.
    """

    best: float
    end: float
    onset: float
    ratio: float
    lost: float
    z: float
    width: float
    mending: bool
    climbs: int
    from_first: bool


_OBJECTIVE = frozenset("beta anneal annealing curriculum difficulty temperature horizon".split())
_STAGES, _STAGES_MOST = frozenset("stage phase lesson".split()), 12


def objective_changes(case: Case) -> bool:
    """Whether a logged weight of the objective (a KL weight, a curriculum, its stage) rises by design."""
    for name in case.names:
        words = set(re.split(r"[^a-z]+", name.lower()))
        if words & _STAGES and _climbs_stairs(case.run.series[name].values):
            return True
        if words & _OBJECTIVE or {"kl", "weight"} <= words:
            values = case.run.series[name].values
            values = values[np.isfinite(values)]
            if values.size >= 3 and values[-1] > 1.2 * abs(values[0]) + 1e-12:
                return True
    return False


def _climbs_stairs(values: FloatArray) -> bool:
    """Whether whole numbers only rise, a few times."""
    values = values[np.isfinite(values)]
    whole = values.size >= 3 and bool((values == np.round(values)).all())
    return whole and bool((np.diff(values) >= 0).all()) and 1 < np.unique(values).size <= _STAGES_MOST


def another_improves(case: Case, since: float, *, share: float = 0.1) -> bool:
    """Whether a validation metric other than the loss, or a score of an evaluation, got clearly better since
    a step."""
    losses = len(case.loss) if case.loss is not None else 0
    for name in case.names:
        curve = case.curve(name) if "loss" not in name else None
        if curve is None or curve.goal == "none" or len(curve) < 8 or curve.axis != case.run.axis:
            continue
        evaluated = name.startswith(("val/", "test/"))
        if not evaluated and not (curve.goal == "higher" and _EVALUATED_APART * len(curve) <= losses):
            continue
        if case.val_loss is not None and curve.name == case.val_loss.name:
            continue
        then, now = float(np.interp(since, curve.x, curve.y)), curve.tail
        better = now - then if curve.goal == "higher" else then - now
        if better > max(share * abs(then), 3 * curve.noise):
            return True
    return False


def validation_stays(case: Case, since: float, *, min_points: int = 2, slack: float = 0.02) -> bool:
    """Whether the validation loss after a step is no worse than just before it: nothing was lost there."""
    val = case.val_loss
    if val is None or val.axis != case.run.axis or val.broken:
        return False
    before, after = val.y[val.x <= since], val.y[val.x > since]
    if min(before.size, after.size) < min_points:
        return False
    level = float(np.median(before[-max(min_points, after.size) :]))
    return max(float(np.median(after)), float(after[-1])) <= level + slack * abs(level)


def rise_of(curve: Curve) -> Rise | None:
    """The rise after the best level, None when the curve ends near its best."""
    steps, levels = curve.coarse.step, curve.coarse.median
    if levels.size < 4:
        return None
    at = int(levels.argmin())
    count = max(1, levels.size // 10)
    best = float(levels[at])
    end = float(np.median(levels[-max(1, count) :]))
    if at >= levels.size - 1 or end <= best:
        return None
    span = float(steps[-1] - steps[0]) or 1.0
    later = levels[at:]
    low = int(np.argmax(later > best + 0.1 * (end - best)))
    high = int(np.argmax(later > best + 0.5 * (end - best)))
    z = _certainty(curve, float(steps[at]), best, end - best)
    beyond = np.flatnonzero((curve.x > steps[at]) & (curve.y > best + 0.1 * (end - best)))
    later_than = np.flatnonzero(curve.x >= steps[at + max(0, low - 1)])
    near = beyond[beyond >= later_than[0]] if later_than.size else beyond
    onset = float(curve.x[near[0]]) if near.size else float(steps[at + low])
    fall = max(curve.head - best, 0.0)
    positive = curve.y.min() > 0 or best > 3 * curve.noise
    ratio = end / best if best > 0 and positive else 1 + (end - best) / (fall or abs(best) or 1.0)
    peak = at + int(later.argmax())
    after = levels[peak:]
    mending = (
        after.size >= 5
        and stats.trend(steps[peak:], after).p < 0.01
        and after[-1] < after[0] - 0.2 * (after[0] - best)
    )
    return Rise(
        best=best,
        end=end,
        onset=onset,
        ratio=float(ratio),
        lost=float((end - best) / fall) if fall > 0 else float("inf"),
        z=float(z),
        width=float((steps[at + max(low, high)] - steps[at + low]) / span),
        mending=bool(mending),
        from_first=at == 0 and levels[1] > best + 0.3 * (end - best),
        climbs=_climbs(levels, best + 0.25 * (end - best), best + 0.75 * (end - best)),
    )


def _climbs(levels: FloatArray, low: float, high: float) -> int:
    """How often the curve goes from below `low` to above `high`."""
    count, down = 0, False
    for level in levels.tolist():
        if level < low:
            down = True
        elif level > high and down:
            count, down = count + 1, False
    return count


def _certainty(curve: Curve, best_step: float, best: float, shift: float) -> float:
    """The shift in standard errors of the two levels, noise measured where they were held."""
    width = max(3, len(curve) // 20)
    at = min(int(np.searchsorted(curve.x, best_step)), len(curve) - 1)
    beyond = np.flatnonzero(curve.y[at:] > best + 0.3 * shift)
    last = at + int(beyond[0]) if beyond.size else at + 1
    before, after = (
        curve.y[max(0, at - width) : min(at + width + 1, max(last, at + 1))],
        curve.y[-2 * width :],
    )
    late = _error(after)
    early = _error(before) if before.size >= 4 else late * math.sqrt(after.size / before.size)
    return min(99.0, shift / max(math.hypot(early, late), 1e-6 * shift)) if shift > 0 else 0.0


def _error(values: FloatArray) -> float:
    """Standard error of a level around which the values may drift; noise with memory counts in full."""
    place = np.arange(values.size) - (values.size - 1) / 2.0
    residuals = values - values.mean() - place * float(place @ values) / max(float(place @ place), 1.0)
    return max(stats.level(residuals)[1], 1.25 * stats.noise(values) / math.sqrt(values.size))
