"""Where the time of a training goes: waiting for data, forward, backward, optimizer, other work."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.number_text import lasting_each
from traindx.evidence.case import Case

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

PARTS = {
    "data_wait_s": "waiting for data",
    "forward_s": "forward",
    "backward_s": "backward",
    "optimizer_s": "optimizer",
}
OTHER = "other work"
BINS_MOST = 160


@dataclass(frozen=True, eq=False)
class Spent:
    """Seconds of a step by what they were spent on; `steps` are the middles of stretches of steps.

    `totals` are the seconds of all steps together that were timed.
    """

    steps: FloatArray
    parts: dict[str, FloatArray]
    totals: dict[str, float]
    timed: int

    @property
    def total(self) -> float:
        return sum(self.totals.values())

    def share(self, part: str) -> float:
        return self.totals.get(part, 0.0) / self.total if self.total > 0 else 0.0


@np.errstate(all="ignore")  # a recording holds whatever somebody wrote into it
def spent(case: Case, bins: int = BINS_MOST) -> Spent | None:
    """The parts of the steps whose whole time is known; None when it is not."""
    steps, seconds = _whole(case)
    parts = {
        title: part_seconds
        for name, title in PARTS.items()
        if (part_seconds := _part(case, name, steps)) is not None
    }
    if not steps.size or not parts:
        return None
    if seconds is not None:
        parts[OTHER] = np.maximum(seconds - np.sum(list(parts.values()), axis=0), 0.0)
    totals = {title: float(values.sum()) for title, values in parts.items()}
    if not sum(totals.values()) > 0:
        return None
    edges = np.linspace(0, steps.size, min(bins, steps.size) + 1).astype(int)[:-1]
    sizes = np.diff(np.append(edges, steps.size))
    means = {title: np.add.reduceat(values, edges) / sizes for title, values in parts.items()}
    return Spent(np.add.reduceat(steps, edges) / sizes, means, totals, int(steps.size))


def _whole(case: Case) -> tuple[FloatArray, FloatArray | None]:
    """The steps that were timed, and how long each took; a run of a single step has no such time."""
    whole = case.curve("step_s")
    if whole is None:
        steps_of_parts = [curve.series.steps for name in PARTS if (curve := case.curve(name)) is not None]
        return (np.unique(np.concatenate(steps_of_parts)) if steps_of_parts else np.empty(0)), None
    good = np.isfinite(whole.series.values) & (whole.series.values >= 0)
    steps, first = np.unique(whole.series.steps[good], return_index=True)
    return steps, whole.series.values[good][first]


def time_sentence(times: Spent) -> str:
    """`waiting for data 62 %, forward 12 %, ... of 14 s in 380 steps`."""
    ranked = sorted(times.totals, key=lambda part: -times.totals[part])
    listed = [f"{part} {_percent(times.share(part))}" for part in ranked if times.share(part) >= 0.005]
    per_step = times.total / max(times.timed, 1)
    return f"{', '.join(listed)}; {lasting_each(per_step)} a step"


def _percent(share: float) -> str:
    return f"{round(100 * share)} %" if share >= 0.01 else "1 %"


def _part(case: Case, name: str, steps: FloatArray) -> FloatArray | None:
    """Seconds at the given steps; zero where a step has none."""
    curve = case.curve(name)
    if curve is None:
        return None
    part_steps, values = curve.series.steps, curve.series.values
    good = np.isfinite(values) & (values >= 0)
    part_steps, values = part_steps[good], values[good]
    if not part_steps.size:
        return None
    at = np.searchsorted(part_steps, steps).clip(0, part_steps.size - 1)
    seconds: FloatArray = np.where(part_steps[at] == steps, values[at], 0.0)
    return seconds
