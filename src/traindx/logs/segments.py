"""Where one training ends in a file and the next begins, or one continues from a checkpoint."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from traindx.core.nouns import BoolArray, Event, FloatArray, IntArray


@dataclass(frozen=True)
class Segment:
    """The rows of one training: a stretch of the file less what a resume superseded.

    `resumes` holds the row at which each resume begins, with its event.
    """

    begin: int
    end: int
    resumes: tuple[tuple[int, Event], ...] = ()
    dropped: BoolArray | None = None

    @property
    def rows(self) -> IntArray:
        rows = np.arange(self.begin, self.end)
        return rows if self.dropped is None else rows[~self.dropped]

    @property
    def events(self) -> list[Event]:
        return [event for _, event in self.resumes]


def segments(steps: FloatArray) -> list[Segment]:
    """Each training in a column of steps, in order.

    A step that falls back to where its training began starts another training. A fall to a later
    step is a resume from a checkpoint: what had been logged beyond it is superseded. A lone row
    out of order is neither, and a column that falls all the time has no order at all.
    """
    back = _falls(steps)
    low, high = (float(np.nanmin(steps)), float(np.nanmax(steps))) if back.size else (0.0, 0.0)
    again = steps[back] <= low + 0.01 * (high - low)
    short = again.sum() > 200 and steps.size < 4 * again.sum()
    if not back.size or short or (~again).sum() > max(20, 0.05 * steps.size):
        return [Segment(0, steps.size)]
    ups = np.diff(steps[: 1 << 20])
    stride = float(np.median(ups[ups > 0])) if (ups > 0).any() else 1.0
    parts: list[Segment] = []
    current, resumes = 0, list[tuple[int, Event]]()
    dropped = np.zeros(steps.size, dtype=bool)
    for at in back.tolist():
        begin, peak = np.nanmin(steps[current:at]), np.nanmax(steps[current:at])
        if (at + 1 == steps.size or steps[at + 1] >= peak) and steps[at] > begin + 0.5 * stride:
            continue
        near = begin + (stride if peak > begin + 3 * stride else 0.5 * stride)
        if steps[at] <= near and peak > begin:
            parts.append(_segment(current, at, resumes, dropped))
            current, resumes = at, []
            continue
        old = (steps[current:at] >= steps[at]) & ~dropped[current:at]
        dropped[current:at] |= old
        text = f"resumed at {steps[at]:g} after reaching {peak:g}; {int(old.sum())} rows superseded"
        resumes.append((at, Event("resume", text, float(steps[at]))))
    parts.append(_segment(current, steps.size, resumes, dropped))
    return parts


def _segment(begin: int, end: int, resumes: list[tuple[int, Event]], dropped: BoolArray) -> Segment:
    superseded = dropped[begin:end]
    return Segment(begin, end, tuple(resumes), superseded if superseded.any() else None)


def _falls(steps: FloatArray) -> IntArray:
    """Rows whose step is below the last finite one before them."""
    finite = np.isfinite(steps)
    if finite.all():
        return np.flatnonzero(steps[1:] < steps[:-1]) + 1
    where = np.flatnonzero(finite)
    known_steps = steps[where]
    return where[1:][known_steps[1:] < known_steps[:-1]]
