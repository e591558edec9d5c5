"""How fast a run goes: time per step, or throughput, whatever the log holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence import stats
from traindx.evidence.case import Case, Curve

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

THROUGHPUT = ("tokens_per_s", "samples_per_s", "steps_per_s", "throughput", "mfu")
TIMES = ("step_s", "epoch_s")
# The first steps hold compilation, allocation and the filling of queues.
_FIRST_SHARE = 0.02
# A curve of so many points tells the speed better than the throughput at a few.
_WELL_KNOWN = 24


def settled(curve: Curve) -> tuple[FloatArray, FloatArray]:
    """Steps and positive values after the first of the run: at least one, two of a hundred."""
    skip = max(1, int(np.ceil(_FIRST_SHARE * len(curve))))
    steps, values = curve.x[skip:], curve.y[skip:]
    return steps[values > 0], values[values > 0]


def speed(case: Case) -> tuple[Curve, FloatArray, FloatArray] | None:
    """The curve that measures the speed, its steps, and the speed there (more is faster)."""
    for least in (_WELL_KNOWN, 3):
        for name in (*THROUGHPUT, *TIMES):
            curve = case.curve(name)
            if curve is None or len(curve) < least:
                continue
            steps, values = settled(curve)
            if values.size > len(curve) // 2:
                return curve, steps, (1.0 / values if name in TIMES else values)
    return None


def thirds(values: FloatArray) -> tuple[float, float, float]:
    """The medians of the three thirds."""
    first, second, third = (float(np.median(part)) for part in np.array_split(values, 3))
    return first, second, third


def shape(steps: FloatArray, values: FloatArray) -> stats.Bins:
    """The course in at most 60 stretches."""
    return stats.bins(steps, values, 60)


def all_slower(case: Case, onset: float, factor: float, *, part: float = 0.6) -> bool:
    """Whether the forward pass slowed down with the steps: the work grew, or the machine had less to give.

    What piles up slows other parts: kept graphs the backward pass, lists and files what stands beside both.
    """
    forward = case.curve("forward_s")
    if forward is None or not case.inside.recorded or factor <= 1:
        return False
    before, after = forward.before(onset), forward.after(onset)
    tenth = max(5, len(forward) // 10)
    before = before[1:] if before.size > tenth else forward.y[1 : tenth + 1]
    after = after[-tenth:]
    if before.size < 3 or after.size < 3 or not float(np.median(before)) > 0:
        return False
    return bool(np.median(after) / np.median(before) >= factor**part)


def work_changes(case: Case, step: float, *, reach: int = 60, factor: float = 1.2) -> bool:
    """Whether from a step on the forward pass takes longer: longer sequences, larger pictures.

    Quick passes tell the work itself; slow ones also tell what else the machine does.
    """
    forward = case.curve("forward_s")
    if forward is None or not case.inside.recorded:
        return False
    before, after = forward.before(step - 1)[-reach:], forward.after(step)[:reach]
    if min(before.size, after.size) < 20:
        return False
    was = [float(np.quantile(part, 0.15)) for part in np.array_split(before, 2)]
    now = [float(np.quantile(part, 0.15)) for part in np.array_split(after, 2)]
    return 0 < factor * max(was) <= min(now)
