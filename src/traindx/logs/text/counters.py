"""Steps from the counters of a line: global steps, positions in an epoch, epochs, bars."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from traindx.core.nouns import FloatArray, IntArray
from traindx.logs.text.dated import DatedLines, Track


def epoch_track(parts: list[DatedLines]) -> Track:
    pairs = [
        (p.lines.offsets, p.lines.columns[p.lines.shape.epoch])
        for p in parts
        if p.lines.shape.epoch is not None
    ]
    if not pairs:
        return np.zeros(0, np.int64), np.zeros(0)
    offsets = np.concatenate([o for o, _ in pairs])
    values = np.concatenate([v for _, v in pairs])
    ok = np.isfinite(values)
    order = np.argsort(offsets[ok], kind="stable")
    return offsets[ok][order], values[ok][order]


def at(offsets: IntArray, track: Track, *, following: bool = False) -> FloatArray:
    """The track's value at each offset: the last before it, or the next after it."""
    where, values = track
    if not where.size:
        return np.full(offsets.size, np.nan)
    if following:
        index = np.minimum(np.searchsorted(where, offsets, side="left"), where.size - 1)
    else:
        index = np.maximum(np.searchsorted(where, offsets, side="right") - 1, 0)
    return values[index]


def own_steps(part: DatedLines, epochs: Track) -> None:
    """Steps from the counters in the line itself, joined with the epoch where they start again."""
    shape, columns = part.lines.shape, part.lines.columns
    if shape.step is not None:
        steps = columns[shape.step]
        if (steps[1:] < steps[:-1]).any():
            epoch = epoch_of(part, epochs)
            if _starts_again(steps, epoch):
                steps = _joined_counters(steps, epoch, None)
        part.level, part.steps = "step", steps
        if steps.size > 1 and steps[0] == steps[-1] and shape.epoch is not None and (steps == steps[0]).all():
            part.level, part.steps = "epoch", columns[shape.epoch]
    elif shape.inner is not None:
        inner, epoch = columns[shape.inner], epoch_of(part, epochs)
        total_slot = shape.slots[shape.inner].total
        total = columns.get(total_slot) if total_slot is not None else None
        part.level = "step"
        if (
            total is not None
            and (inner >= total).all()
            and np.isfinite(epoch).any()
            and part.split not in ("val", "test")
        ):
            part.level, part.steps = "epoch", epoch
        elif part.split in ("val", "test"):
            part.keep &= np.append(np.diff(inner) <= 0, True)
            part.level, part.steps = "none", np.full(inner.size, np.nan)
        elif np.isfinite(epoch).any():
            part.steps = _joined_counters(inner, epoch, total)
        elif total is not None and inner.size > 1 and (inner >= total).all():
            part.level, part.steps = "epoch", np.arange(1.0, inner.size + 1)
        else:
            part.steps = _running(inner)
    elif shape.epoch is not None:
        part.level, part.steps = "epoch", columns[shape.epoch]
        if not shape.bar and (within := _within_epochs(part.steps)) is not None:
            part.level, part.steps = "step", within
        if shape.bar:
            part.keep &= np.append(np.diff(part.steps) != 0, True)


def _within_epochs(epoch: FloatArray) -> FloatArray | None:
    """A running count for lines that are printed several times an epoch and count nothing else."""
    turns = np.flatnonzero(np.diff(epoch) != 0)
    if epoch.size < 3 * (turns.size + 1) or epoch.size < 6:
        return None
    count = np.arange(epoch.size, dtype=float)
    for fall in np.flatnonzero(np.diff(epoch) < 0) + 1:
        count[fall:] -= count[fall]
    return count


def epoch_of(part: DatedLines, epochs: Track) -> FloatArray:
    """The epoch that each line names, or belongs to."""
    epoch_place = part.lines.shape.epoch
    return part.lines.columns[epoch_place] if epoch_place is not None else at(part.lines.offsets, epochs)


def _starts_again(steps: FloatArray, epoch: FloatArray) -> bool:
    back = np.diff(steps) < 0
    if back.sum() < 1 or not np.isfinite(epoch).all():
        return False
    up = np.diff(epoch) > 0
    return bool((back & up).sum() >= 0.7 * back.sum() and (back & up).sum() >= 0.5 * max(up.sum(), 1))


def _joined_counters(inner: FloatArray, epoch: FloatArray, total: FloatArray | None) -> FloatArray:
    """`epochs done * length of an epoch + place in it`, for each training in the file by itself."""
    if not inner.size:
        return inner
    falls = (np.diff(epoch) < 0) | ((np.diff(epoch) == 0) & (np.diff(inner) < 0))
    cuts = [0, *(np.flatnonzero(falls) + 1).tolist(), inner.size]
    if len(cuts) > 50:
        cuts = [0, inner.size]
    out = np.empty(inner.size)
    for begin, end in pairwise(cuts):
        part = slice(begin, end)
        length = _epoch_length(inner[part], total[part] if total is not None else None)
        first = np.floor(np.nanmin(epoch[part])) if np.isfinite(epoch[part]).any() else 0.0
        out[part] = (np.floor(epoch[part]) - first) * length + inner[part]
    return out


def _epoch_length(inner: FloatArray, total: FloatArray | None) -> float:
    if total is not None and np.isfinite(total).any():
        values, counts = np.unique(total[np.isfinite(total)], return_counts=True)
        return max(float(values[np.argmax(counts)]), 1.0)
    if not np.isfinite(inner).any():
        return 1.0
    start = 1.0 if np.nanmin(inner) >= 1 else 0.0
    return float(np.nanmax(inner) - start + 1)


def _running(inner: FloatArray) -> FloatArray:
    """A counter that restarts without an epoch number: the restarts are added up."""
    back = np.flatnonzero(np.diff(inner) < 0)
    if not back.size:
        return inner
    if back.size <= 3 and inner.size > 50 * back.size:
        return inner
    offset = np.zeros(inner.size)
    np.add.at(offset, back + 1, inner[back] + (1 if np.nanmin(inner) == 0 else 0))
    return np.asarray(inner + np.cumsum(offset))


def as_epochs(part: DatedLines, epochs: Track) -> None:
    """Bars inside an epoch are placed between the epochs; a finished bar is the epoch's own value."""
    shape = part.lines.shape
    if part.level != "step" or shape.inner is None:
        return
    inner = part.lines.columns[shape.inner]
    slot = shape.slots[shape.inner].total
    total = (
        part.lines.columns.get(slot, np.full(inner.size, np.nanmax(inner)))
        if slot is not None
        else np.full(inner.size, np.nanmax(inner))
    )
    epoch = epoch_of(part, epochs)
    is_complete = inner >= total
    part.level = "epoch"
    part.steps = np.where(is_complete, epoch, epoch - 1 + inner / np.maximum(total, 1))
    part.keep &= inner > 0
    if not is_complete.all():
        part.scope, part.done = "bar", is_complete
