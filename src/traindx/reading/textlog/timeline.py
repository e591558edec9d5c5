"""When each line of a log was said: steps, epochs, splits and runs from counters and places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from traindx import names
from traindx.reading import tables
from traindx.core import Axis, Event
from traindx.reading.textlog.fields import counter_of
from traindx.reading.textlog.numbers import present
from traindx.reading.textlog.scan import Seen

if TYPE_CHECKING:
    from traindx.core import BoolArray, FloatArray, IntArray

Level = Literal["step", "epoch", "none"]


@dataclass(eq=False)
class Dated:
    """Lines of one shape with their place on the axis."""

    seen: Seen
    level: Level
    steps: FloatArray
    keep: BoolArray
    split: str
    scope: str = ""
    suffix: str = ""
    done: BoolArray | None = None


@dataclass
class Span:
    """One training in the log: from where to where, and its resumes (offset, step)."""

    begin: int
    end: int
    resumes: list[tuple[int, float, Event]]


@dataclass
class Timeline:
    axis: Axis
    dated: list[Dated]
    spans: list[Span]
    track_offsets: IntArray
    track_steps: FloatArray


def date_lines(seen: list[Seen], marks: list[tuple[int, str]]) -> Timeline:
    """Put every line on one axis."""
    parts = [part for one in seen for part in _by_split_and_rank(one, marks)]
    _split_of_neighbours(parts)
    epochs = _epoch_track(parts)
    parts = _part_evaluations(parts, epochs)
    for part in parts:
        _own_steps(part, epochs)
    axis = _choose_axis(parts)
    if axis == "epoch":
        for part in parts:
            _as_epochs(part, epochs)
    track_offsets, track_steps = _track(parts, axis)
    for part in parts:
        _inherit(part, axis, track_offsets, track_steps)
    _scopes(parts, axis)
    spans = _spans(track_offsets, track_steps)
    if axis == "row":
        _count_rows(parts)
    return Timeline(axis, parts, spans, track_offsets, track_steps)


def _by_split_and_rank(seen: Seen, marks: list[tuple[int, str]]) -> list[Dated]:
    """Cut one shape's lines by the section they stand in and the rank that wrote them."""
    shape = seen.shape
    n = seen.offsets.size
    if shape.rank is None and (shape.split or not marks):
        return [_dated(seen, "" if shape.split == "train" else shape.split)]
    splits = np.full(n, "" if shape.split == "train" else shape.split, dtype=object)
    epoch_mark = shape.epoch is not None and not shape.values
    if not shape.split and marks and not epoch_mark:
        where = np.searchsorted([m[0] for m in marks], seen.offsets, side="right") - 1
        kinds = np.array(["" if m[1] == "train" else m[1] for m in marks], dtype=object)
        splits[where >= 0] = kinds[where[where >= 0]]
    ranks = seen.columns.get(shape.rank, np.zeros(n)) if shape.rank is not None else np.zeros(n)
    out = []
    several = np.unique(ranks[np.isfinite(ranks)])
    for split in dict.fromkeys(splits):
        for rank in several if several.size <= 1024 else several[:1]:
            keep = (splits == split) & (ranks == rank)
            if keep.any():
                suffix = "" if rank == several[0] else f"/rank{int(rank)}"
                out.append(_dated(_pick(seen, keep), str(split), suffix))
    return out


def _dated(seen: Seen, split: str, suffix: str = "") -> Dated:
    n = seen.offsets.size
    return Dated(seen, "none", np.broadcast_to(np.nan, n), np.ones(n, bool), split, suffix=suffix)


def _pick(seen: Seen, keep: BoolArray) -> Seen:
    if keep.all():
        return seen
    return Seen(seen.shape, seen.offsets[keep], {i: c[keep] for i, c in seen.columns.items()})


def _split_of_neighbours(parts: list[Dated]) -> None:
    """A result without counter or split that always follows a validation line is a validation result."""
    kinds = [_split(p) for p in parts]
    for i, part in enumerate(parts):
        if kinds[i] or part.seen.shape.counts or not part.seen.shape.judged():
            continue
        nearest = np.full(part.seen.offsets.size, -1)
        leads = np.zeros(part.seen.offsets.size, dtype=np.int64)
        for j, other in enumerate(parts):
            if j == i:
                continue
            at = np.searchsorted(other.seen.offsets, part.seen.offsets) - 1
            before = np.where(at >= 0, other.seen.offsets[np.maximum(at, 0)], -1)
            closer = before > nearest
            nearest[closer], leads[closer] = before[closer], j
        told = [kinds[j] for j, near in zip(leads, nearest, strict=True) if near >= 0]
        for split in ("val", "test"):
            if told and told.count(split) >= 0.8 * part.seen.offsets.size:
                part.split = split


def _split(part: Dated) -> str:
    """The split of a line by its place, or by the names in it where they all agree."""
    told = {split for _, split in part.seen.shape.judged()}
    return part.split or (told.pop() if len(told) == 1 and "train" not in told else "")


def _epoch_track(parts: list[Dated]) -> tuple[IntArray, FloatArray]:
    pairs = [
        (p.seen.offsets, p.seen.columns[p.seen.shape.epoch])
        for p in parts
        if p.seen.shape.epoch is not None
    ]
    if not pairs:
        return np.zeros(0, np.int64), np.zeros(0)
    offsets = np.concatenate([o for o, _ in pairs])
    values = np.concatenate([v for _, v in pairs])
    ok = np.isfinite(values)
    order = np.argsort(offsets[ok], kind="stable")
    return offsets[ok][order], values[ok][order]


def _part_evaluations(parts: list[Dated], epochs: tuple[IntArray, FloatArray]) -> list[Dated]:
    """Bars that run after an epoch's own bar is full, or to another length, are evaluations."""
    bars = [p for p in parts if _counts_inside(p)]
    if not bars or not epochs[0].size:
        return parts
    offsets = np.concatenate([p.seen.offsets for p in bars])
    inner = np.concatenate([p.seen.columns[_slot(p)] for p in bars])
    total = np.concatenate([p.seen.columns[_total(p)] for p in bars])
    order = np.argsort(offsets, kind="stable")
    inner, total = inner[order], total[order]
    window = np.searchsorted(epochs[0], offsets[order], side="right")
    _, first, which = np.unique(window, return_index=True, return_inverse=True)
    own = total == total[first][which]
    place = np.arange(order.size)
    done = own & (inner >= total)
    full = np.full(first.size, order.size)
    np.minimum.at(full, which[done], place[done])
    again = (place > full[which]) & ~done
    restart = np.full(first.size, order.size)
    np.minimum.at(restart, which[again], place[again])
    evaluation = np.zeros(order.size, dtype=bool)
    evaluation[order] = ~own | (place >= restart[which])
    if not evaluation.any():
        return parts
    out = [p for p in parts if not _counts_inside(p)]
    at = 0
    for part in bars:
        flags = evaluation[at : at + part.seen.offsets.size]
        at += part.seen.offsets.size
        for keep, split in ((~flags, part.split), (flags, "test")):
            if keep.any():
                cut = _dated(_pick(part.seen, keep), split, part.suffix)
                if split == "test":
                    cut.keep = cut.seen.columns[_slot(part)] >= cut.seen.columns[_total(part)]
                out.append(cut)
    return out


def _counts_inside(part: Dated) -> bool:
    """A bar or count towards a total, in a line that does not name its epoch."""
    shape = part.seen.shape
    return (
        shape.inner is not None
        and shape.epoch is None
        and shape.step is None
        and shape.slots[shape.inner].total is not None
        and part.split not in ("val", "test")
    )


def _slot(part: Dated) -> int:
    return part.seen.shape.inner or 0


def _total(part: Dated) -> int:
    return part.seen.shape.slots[_slot(part)].total or 0


def _at(offsets: IntArray, track: tuple[IntArray, FloatArray], *, following: bool = False) -> FloatArray:
    """The track's value at each offset: the last before it, or the next after it."""
    where, values = track
    if not where.size:
        return np.full(offsets.size, np.nan)
    if following:
        index = np.minimum(np.searchsorted(where, offsets, side="left"), where.size - 1)
    else:
        index = np.maximum(np.searchsorted(where, offsets, side="right") - 1, 0)
    return values[index]


def _own_steps(part: Dated, epochs: tuple[IntArray, FloatArray]) -> None:
    """Steps from the counters in the line itself, joined with the epoch where they start again."""
    shape, columns = part.seen.shape, part.seen.columns
    if shape.step is not None:
        steps = columns[shape.step]
        if (steps[1:] < steps[:-1]).any():
            epoch = _epoch_of(part, epochs)
            if _starts_again(steps, epoch):
                steps = _joined(steps, epoch, None)
        part.level, part.steps = "step", steps
    elif shape.inner is not None:
        inner, epoch = columns[shape.inner], _epoch_of(part, epochs)
        total_slot = shape.slots[shape.inner].total
        total = columns.get(total_slot) if total_slot is not None else None
        part.level = "step"
        if total is not None and (inner >= total).all() and np.isfinite(epoch).any() and part.split not in ("val", "test"):
            part.level, part.steps = "epoch", epoch
        elif part.split in ("val", "test"):
            part.keep &= np.append(np.diff(inner) <= 0, True)
            part.level, part.steps = "none", np.full(inner.size, np.nan)
        elif np.isfinite(epoch).any():
            part.steps = _joined(inner, epoch, total)
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
    """A running count for lines that come several times an epoch and count nothing else."""
    turns = np.flatnonzero(np.diff(epoch) != 0)
    if epoch.size < 3 * (turns.size + 1) or epoch.size < 6:
        return None
    count = np.arange(epoch.size, dtype=float)
    for fall in np.flatnonzero(np.diff(epoch) < 0) + 1:
        count[fall:] -= count[fall]
    return count


def _epoch_of(part: Dated, epochs: tuple[IntArray, FloatArray]) -> FloatArray:
    """The epoch each line names, or stands in."""
    own = part.seen.shape.epoch
    return part.seen.columns[own] if own is not None else _at(part.seen.offsets, epochs)


def _starts_again(steps: FloatArray, epoch: FloatArray) -> bool:
    back = np.diff(steps) < 0
    if back.sum() < 1 or not np.isfinite(epoch).all():
        return False
    up = np.diff(epoch) > 0
    return bool((back & up).sum() >= 0.7 * back.sum() and (back & up).sum() >= 0.5 * max(up.sum(), 1))


def _joined(inner: FloatArray, epoch: FloatArray, total: FloatArray | None) -> FloatArray:
    """`epochs done * length of an epoch + place in it`, for each training in the file by itself."""
    if not inner.size:
        return inner
    falls = (np.diff(epoch) < 0) | ((np.diff(epoch) == 0) & (np.diff(inner) < 0))
    cuts = [0, *(np.flatnonzero(falls) + 1).tolist(), inner.size]
    if len(cuts) > 50:
        cuts = [0, inner.size]
    out = np.empty(inner.size)
    for begin, end in zip(cuts, cuts[1:], strict=False):
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
    """A counter that starts again with nothing to say how often: add up the rounds."""
    back = np.flatnonzero(np.diff(inner) < 0)
    if not back.size:
        return inner
    if back.size <= 3 and inner.size > 50 * back.size:
        return inner
    offset = np.zeros(inner.size)
    np.add.at(offset, back + 1, inner[back] + (1 if np.nanmin(inner) == 0 else 0))
    return np.asarray(inner + np.cumsum(offset))


def _choose_axis(parts: list[Dated]) -> Axis:
    """Steps where plain lines count them; epochs where only bars do; rows where nothing counts."""
    leaders = _leaders(parts)
    solid = [p for p in leaders if p.level == "step" and not (p.seen.shape.bar and p.seen.shape.step is None)]
    if solid:
        return "step"
    if any(p.level == "epoch" for p in leaders) or any(p.seen.shape.epoch is not None for p in parts):
        return "epoch"
    return "step" if any(p.level == "step" for p in leaders) else "row"


def _leaders(parts: list[Dated]) -> list[Dated]:
    """The lines trusted to tell the time: those that carry the training's own measurements and
    count; where measurements do not count, the lines that count most often beside them."""
    train = [p for p in parts if p.split not in ("val", "test") and not p.suffix]
    for some in (train, [p for p in parts if not p.suffix]):
        measured = [p for p in some if p.level != "none" and p.seen.shape.judged() and p.seen.offsets.size > 1]
        if measured:
            return measured
        counting = _of_best_counter([p for p in some if p.level != "none"])
        if counting:
            most = max(p.seen.offsets.size for p in counting)
            return [p for p in counting if p.seen.offsets.size >= 0.5 * most]
    return []


def _of_best_counter(parts: list[Dated]) -> list[Dated]:
    """Of lines that count different things (iterations, samples) only those of the plainest."""
    ranks = []
    for part in parts:
        slot = part.seen.shape.step
        rank = names.counter_rank(counter_of(part.seen.shape.slots[slot].name)) if slot is not None else None
        ranks.append(2.5 if rank is None else rank)
    return [p for p, rank in zip(parts, ranks, strict=True) if rank == min(ranks)]


def _as_epochs(part: Dated, epochs: tuple[IntArray, FloatArray]) -> None:
    """Bars inside an epoch lie between the epochs; a finished bar is the epoch's own value."""
    shape = part.seen.shape
    if part.level != "step" or shape.inner is None:
        return
    inner = part.seen.columns[shape.inner]
    slot = shape.slots[shape.inner].total
    total = part.seen.columns.get(slot, np.full(inner.size, np.nanmax(inner))) if slot is not None else np.full(inner.size, np.nanmax(inner))
    epoch = _epoch_of(part, epochs)
    done = inner >= total
    part.level = "epoch"
    part.steps = np.where(done, epoch, epoch - 1 + inner / np.maximum(total, 1))
    if not done.all():
        part.scope, part.done = "bar", done


def _track(parts: list[Dated], axis: Axis) -> tuple[IntArray, FloatArray]:
    """The course of the counter through the file, from the lines that are trusted to tell it."""
    level = "epoch" if axis == "epoch" else "step"
    leaders = [p for p in _leaders(parts) if p.level == level]
    whole = [p for p in leaders if p.scope != "bar"]
    chosen = whole or leaders or [p for p in parts if p.level == level and not p.suffix]
    if not chosen:
        return np.zeros(0, np.int64), np.zeros(0)
    most = max(chosen, key=lambda p: p.seen.offsets.size)
    alone = sum(p.seen.offsets.size for p in chosen) <= 1.1 * most.seen.offsets.size
    if alone and np.isfinite(most.steps).all():
        return most.seen.offsets, most.steps
    offsets = np.concatenate([p.seen.offsets for p in chosen])
    steps = np.concatenate([p.steps for p in chosen])
    ok = np.isfinite(steps)
    order = np.argsort(offsets[ok], kind="stable")
    return offsets[ok][order], steps[ok][order]


def _inherit(part: Dated, axis: Axis, offsets: IntArray, steps: FloatArray) -> None:
    """Lines without a counter of the axis take it from the counting line they belong to."""
    level = "epoch" if axis == "epoch" else "step"
    if part.level == level or not offsets.size:
        return
    own = part.seen.offsets
    following = part.level == "none" and bool(own.size) and own[0] < offsets[0]
    part.steps = _at(own, (offsets, steps), following=following)


def _scopes(parts: list[Dated], axis: Axis) -> None:
    """Tell apart what one log says at several levels under one name."""
    groups: dict[tuple[str, str], list[Dated]] = {}
    for part in parts:
        for key in part.seen.shape.strong():
            groups.setdefault((key[0], part.split), []).append(part)
    for members in groups.values():
        fine = [p for p in members if p.seen.shape.inner is not None and not p.scope]
        for part in members:
            coarse = part.seen.shape.inner is None and part.seen.shape.epoch is not None
            if part.scope:
                continue
            if axis == "step" and (part.level == "epoch" or (fine and coarse and part not in fine)):
                if any(p is not part and p.level == "step" for p in members):
                    part.scope = "epoch"
            if part.level == "none" and part.split in ("val", "test") and part.keep.sum() > 2:
                repeats = np.diff(part.steps[part.keep]) == 0
                if repeats.mean() > 0.5:
                    part.scope = "batch"


def _spans(offsets: IntArray, steps: FloatArray) -> list[Span]:
    """Where one training ends in the file and the next begins."""
    far = 1 << 62
    if not offsets.size:
        return [Span(-1, far, [])]
    spans: list[Span] = []
    for segment in tables.segments(steps):
        begin = int(offsets[segment.begin])
        if spans:
            spans[-1].end = begin
        marks = [(int(offsets[at]), float(steps[at]), event) for at, event in segment.resumes]
        spans.append(Span(begin, far, marks))
    spans[0].begin = -1
    return spans


def _count_rows(parts: list[Dated]) -> None:
    """Without any counter, the n-th line of a shape is step n."""
    for part in parts:
        part.steps = np.arange(part.seen.offsets.size, dtype=float)


def values_of(part: Dated, slot: int, within: Span) -> tuple[IntArray, FloatArray, FloatArray, BoolArray | None]:
    """Offsets, steps, values and whether a bar was full, of one slot where the log wrote a number."""
    offsets, steps, values = part.seen.offsets, part.steps, part.seen.columns[slot]
    ok = present(values) & part.keep & np.isfinite(steps)
    ok &= (offsets >= within.begin) & (offsets < within.end)
    for offset, step, _ in within.resumes:
        ok &= ~((offsets < offset) & (steps >= step))
    if ok.all():
        return offsets, steps, values, part.done
    return offsets[ok], steps[ok], values[ok], part.done[ok] if part.done is not None else None


def metric_key(name: str, split: str) -> tuple[str, str]:
    meaning = names.understand(name)
    return (meaning.metric + "/" + meaning.part if meaning.known else name, meaning.split or split or "train")
