"""When each line of a log was printed: steps, epochs, splits and runs from counters and places."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from traindx.core import names
from traindx.core.nouns import Axis, BoolArray, Event, FloatArray, IntArray
from traindx.logs.segments import segments
from traindx.logs.text.counters import as_epochs, at, epoch_track, own_steps
from traindx.logs.text.dated import (
    DatedLines,
    below_own_header,
    by_split_and_rank,
    part_evaluations,
    split_of_neighbours,
)
from traindx.logs.text.fields import counter_of
from traindx.logs.text.numerals import present
from traindx.logs.text.scan import ShapeLines


@dataclass
class LineSpan:
    """One training in the log: from where to where, and its resumes (offset, step, event)."""

    begin: int
    end: int
    resumes: list[tuple[int, float, Event]]


@dataclass
class Timeline:
    axis: Axis
    dated: list[DatedLines]
    spans: list[LineSpan]
    track_offsets: IntArray
    track_steps: FloatArray


def date_lines(
    lines: list[ShapeLines], marks: list[tuple[int, str]], headers: Sequence[tuple[int, bytes]] = ()
) -> Timeline:
    """Put every line on one axis."""
    lines = [own_lines for group in lines if (own_lines := below_own_header(group, headers)).offsets.size]
    _summaries_next_to_bars(lines)
    parts = [part for group in lines for part in by_split_and_rank(group, marks)]
    split_of_neighbours(parts)
    epochs = epoch_track(parts)
    parts = part_evaluations(parts, epochs)
    for part in parts:
        own_steps(part, epochs)
    axis = _choose_axis(parts)
    if axis == "epoch":
        for part in parts:
            as_epochs(part, epochs)
    track_offsets, track_steps = _track(parts, axis)
    for part in parts:
        _inherit(part, axis, track_offsets, track_steps)
    _scopes(parts, axis)
    spans = _spans(track_offsets, track_steps, [offset for offset, _ in headers])
    return Timeline(axis, parts, spans, track_offsets, track_steps)


def _summaries_next_to_bars(lines: list[ShapeLines]) -> None:
    """`[3/100] Train Loss: ...` among bars with another total counts the epochs."""
    inside = [group for group in lines if group.shape.inner is not None and group.shape.epoch is None]
    if not any(group.shape.bar for group in inside):
        return
    for group in inside:
        shape = group.shape
        if shape.bar or shape.step is not None or shape.inner is None:
            continue
        moves = np.diff(group.columns[shape.inner])
        if group.offsets.size > 1 and (moves == 1).all():
            shape.epoch, shape.inner = shape.inner, None


def _choose_axis(parts: list[DatedLines]) -> Axis:
    """Steps where plain lines count them; epochs where only bars do; rows where nothing counts."""
    leaders = _leaders(parts)
    solid = [
        p for p in leaders if p.level == "step" and not (p.lines.shape.bar and p.lines.shape.step is None)
    ]
    if solid:
        return "step"
    if any(p.level == "epoch" for p in leaders) or any(p.lines.shape.epoch is not None for p in parts):
        return "epoch"
    return "step" if any(p.level == "step" for p in leaders) else "row"


def _leaders(parts: list[DatedLines]) -> list[DatedLines]:
    """The lines whose counter is trusted: those with the training's own measurements and a
    counter; where measurements have none, the lines that count most often."""
    train = [p for p in parts if p.split not in ("val", "test") and not p.suffix]
    for group in (train, [p for p in parts if not p.suffix]):
        measured = [
            p for p in group if p.level != "none" and p.lines.shape.judged() and p.lines.offsets.size > 1
        ]
        if measured:
            return measured
        counting = _of_best_counter([p for p in group if p.level != "none"])
        if counting:
            largest_size = max(p.lines.offsets.size for p in counting)
            return [p for p in counting if p.lines.offsets.size >= 0.5 * largest_size]
    return []


def _of_best_counter(parts: list[DatedLines]) -> list[DatedLines]:
    """Of lines that count different things (iterations, samples) only those of the plainest."""
    ranks = []
    for part in parts:
        slot = part.lines.shape.step
        rank = names.counter_rank(counter_of(part.lines.shape.slots[slot].name)) if slot is not None else None
        ranks.append(2.5 if rank is None else rank)
    return [p for p, rank in zip(parts, ranks, strict=True) if rank == min(ranks)]


def _track(parts: list[DatedLines], axis: Axis) -> tuple[IntArray, FloatArray]:
    """The counter's course through the file, from the lines whose counter is trusted."""
    level = "epoch" if axis == "epoch" else "step"
    leaders = [p for p in _leaders(parts) if p.level == level]
    whole = [p for p in leaders if p.scope != "bar"]
    counting = whole or leaders or [p for p in parts if p.level == level and not p.suffix]
    if not counting:
        return np.zeros(0, np.int64), np.zeros(0)
    largest = max(counting, key=lambda p: p.lines.offsets.size)
    alone = sum(p.lines.offsets.size for p in counting) <= 1.1 * largest.lines.offsets.size
    if alone and largest.done is None and largest.keep.all() and np.isfinite(largest.steps).all():
        return largest.lines.offsets, largest.steps
    offsets = np.concatenate([p.lines.offsets for p in counting])
    steps = np.concatenate([np.ceil(p.steps) if p.done is not None else p.steps for p in counting])
    ok = np.isfinite(steps) & np.concatenate([p.keep for p in counting])
    order = np.argsort(offsets[ok], kind="stable")
    return offsets[ok][order], steps[ok][order]


def _inherit(part: DatedLines, axis: Axis, offsets: IntArray, steps: FloatArray) -> None:
    """Lines without a counter of the axis take it from the counting line they belong to."""
    level = "epoch" if axis == "epoch" else "step"
    if part.level == level or not offsets.size:
        return
    part_offsets = part.lines.offsets
    following = part.level == "none" and bool(part_offsets.size) and part_offsets[0] < offsets[0]
    part.steps = at(part_offsets, (offsets, steps), following=following)


def _scopes(parts: list[DatedLines], axis: Axis) -> None:
    """Distinguish by scope what one log reports at several levels under one name."""
    groups: dict[tuple[str, str], list[DatedLines]] = {}
    for part in parts:
        for key in part.lines.shape.strong():
            groups.setdefault((key[0], part.split), []).append(part)
    for members in groups.values():
        fine = [p for p in members if p.lines.shape.inner is not None and not p.scope]
        for part in members:
            coarse = part.lines.shape.inner is None and part.lines.shape.epoch is not None
            if part.scope:
                continue
            has_steps = any(p is not part and p.level == "step" for p in members)
            if (
                axis == "step"
                and has_steps
                and (part.level == "epoch" or (fine and coarse and part not in fine))
            ):
                part.scope = "epoch"
            if part.level == "none" and part.split in ("val", "test") and part.keep.sum() > 2:
                repeats = np.diff(part.steps[part.keep]) == 0
                if repeats.mean() > 0.5:
                    part.scope = "batch"


def _spans(offsets: IntArray, steps: FloatArray, headers: list[int]) -> list[LineSpan]:
    """Where one training ends in the file and the next begins."""
    far = 1 << 62
    if not offsets.size:
        return [LineSpan(-1, far, [])]
    spans: list[LineSpan] = []
    for first, last in pairwise([0, *_fresh_tables(offsets, steps, headers), offsets.size]):
        for segment in segments(steps[first:last]):
            begin = int(offsets[first + segment.begin])
            if spans:
                spans[-1].end = begin
            resumes = [(first + row, event) for row, event in segment.resumes]
            marks = [(int(offsets[row]), float(steps[row]), event) for row, event in resumes]
            spans.append(LineSpan(begin, far, marks))
    spans[0].begin = -1
    return spans


def _fresh_tables(offsets: IntArray, steps: FloatArray, headers: list[int]) -> list[int]:
    """Rows at which the header repeats and the counter is back where the table began."""
    cuts = [0]
    for row in np.searchsorted(offsets, headers).tolist():
        if cuts[-1] < row < steps.size and steps[row] <= steps[cuts[-1]]:
            cuts.append(row)
    return cuts[1:]


def values_of(
    part: DatedLines, slot: int, within: LineSpan
) -> tuple[IntArray, FloatArray, FloatArray, BoolArray | None]:
    """Offsets, steps, values and whether a bar was full, of one slot where the log wrote a number."""
    low, high = np.searchsorted(part.lines.offsets, (within.begin, within.end)).tolist()
    rows = slice(low, high)
    offsets, steps, values = part.lines.offsets[rows], part.steps[rows], part.lines.columns[slot][rows]
    is_complete = part.done[rows] if part.done is not None else None
    ok = present(values) & part.keep[rows]
    if part.level != "none" or np.isfinite(steps).any():
        ok &= np.isfinite(steps)
    for offset, step, _ in within.resumes:
        ok &= ~((offsets < offset) & (steps >= step))
    if ok.all():
        return offsets, steps, values, is_complete
    return offsets[ok], steps[ok], values[ok], is_complete[ok] if is_complete is not None else None


def metric_key(name: str, split: str) -> tuple[str, str]:
    meaning = names.understand(name)
    return (meaning.metric + "/" + meaning.part if meaning.known else name, meaning.split or split or "train")
