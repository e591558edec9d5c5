"""Lines of one shape with their place on the axis, and their splits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from traindx.core.nouns import BoolArray, FloatArray, IntArray
from traindx.logs.text.scan import ShapeLines

Level = Literal["step", "epoch", "none"]
Track = tuple[IntArray, FloatArray]


@dataclass(eq=False)
class DatedLines:
    """Lines of one shape with their place on the axis."""

    lines: ShapeLines
    level: Level
    steps: FloatArray
    keep: BoolArray
    split: str
    scope: str = ""
    suffix: str = ""
    done: BoolArray | None = None


def below_own_header(lines: ShapeLines, headers: Sequence[tuple[int, bytes]]) -> ShapeLines:
    """Only the rows of a table shape that are below the header which named it."""
    if not lines.shape.header or len({bone for _, bone in headers}) < 2:
        return lines
    nearest = np.searchsorted([offset for offset, _ in headers], lines.offsets, side="right") - 1
    has_own_header = np.array(
        [at < 0 or headers[at][1] == lines.shape.header for at in nearest.tolist()], dtype=bool
    )
    return _pick(lines, has_own_header)


def by_split_and_rank(lines: ShapeLines, marks: list[tuple[int, str]]) -> list[DatedLines]:
    """Separate the lines of one shape by their section and by the rank that wrote them."""
    shape = lines.shape
    n = lines.offsets.size
    if shape.rank is None and (shape.split or not marks):
        return [_dated(lines, "" if shape.split == "train" else shape.split)]
    splits = np.full(n, "" if shape.split == "train" else shape.split, dtype=object)
    epoch_mark = shape.epoch is not None and not shape.values
    if not shape.split and marks and not epoch_mark:
        where = np.searchsorted([m[0] for m in marks], lines.offsets, side="right") - 1
        kinds = np.array(["" if m[1] == "train" else m[1] for m in marks], dtype=object)
        splits[where >= 0] = kinds[where[where >= 0]]
    ranks = lines.columns.get(shape.rank, np.zeros(n)) if shape.rank is not None else np.zeros(n)
    out = []
    several = np.unique(ranks[np.isfinite(ranks)])
    for split in dict.fromkeys(splits):
        for rank in several if several.size <= 1024 else several[:1]:
            keep = (splits == split) & (ranks == rank)
            if keep.any():
                suffix = "" if rank == several[0] else f"/rank{int(rank)}"
                out.append(_dated(_pick(lines, keep), str(split), suffix))
    return out


def _dated(lines: ShapeLines, split: str, suffix: str = "") -> DatedLines:
    n = lines.offsets.size
    return DatedLines(lines, "none", np.broadcast_to(np.nan, n), np.ones(n, bool), split, suffix=suffix)


def _pick(lines: ShapeLines, keep: BoolArray) -> ShapeLines:
    if keep.all():
        return lines
    return ShapeLines(lines.shape, lines.offsets[keep], {i: c[keep] for i, c in lines.columns.items()})


def split_of_neighbours(parts: list[DatedLines]) -> None:
    """A result without counter or split that always follows a validation line is a validation result."""
    kinds = [_split(p) for p in parts]
    for i, part in enumerate(parts):
        if kinds[i] or part.lines.shape.counts or not part.lines.shape.judged():
            continue
        nearest = np.full(part.lines.offsets.size, -1)
        leads = np.zeros(part.lines.offsets.size, dtype=np.int64)
        for j, neighbour in enumerate(parts):
            if j == i:
                continue
            at = np.searchsorted(neighbour.lines.offsets, part.lines.offsets) - 1
            before = np.where(at >= 0, neighbour.lines.offsets[np.maximum(at, 0)], -1)
            closer = before > nearest
            nearest[closer], leads[closer] = before[closer], j
        splits = [kinds[j] for j, near in zip(leads, nearest, strict=True) if near >= 0]
        for split in ("val", "test"):
            if splits and splits.count(split) >= 0.8 * part.lines.offsets.size:
                part.split = split


def _split(part: DatedLines) -> str:
    """The split of a line by its place, or by the names in it where they all agree."""
    splits = {split for _, split in part.lines.shape.judged()}
    return part.split or (splits.pop() if len(splits) == 1 and "train" not in splits else "")


def part_evaluations(parts: list[DatedLines], epochs: Track) -> list[DatedLines]:
    """Bars that run after an epoch's own bar is full, or to another length, are evaluations."""
    bars = [p for p in parts if _counts_inside(p)]
    if not bars or not epochs[0].size:
        return parts
    offsets = np.concatenate([p.lines.offsets for p in bars])
    inner = np.concatenate([p.lines.columns[_slot(p)] for p in bars])
    total = np.concatenate([p.lines.columns[_total(p)] for p in bars])
    order = np.argsort(offsets, kind="stable")
    inner, total = inner[order], total[order]
    window = np.searchsorted(epochs[0], offsets[order], side="right")
    _, first, inverse = np.unique(window, return_index=True, return_inverse=True)
    has_same_total = total == total[first][inverse]
    place = np.arange(order.size)
    is_complete = has_same_total & (inner >= total)
    full = np.full(first.size, order.size)
    np.minimum.at(full, inverse[is_complete], place[is_complete])
    again = (place > full[inverse]) & ~is_complete
    restart = np.full(first.size, order.size)
    np.minimum.at(restart, inverse[again], place[again])
    evaluation = np.zeros(order.size, dtype=bool)
    evaluation[order] = ~has_same_total | (place >= restart[inverse])
    if not evaluation.any():
        return parts
    out = [p for p in parts if not _counts_inside(p)]
    at = 0
    for part in bars:
        flags = evaluation[at : at + part.lines.offsets.size]
        at += part.lines.offsets.size
        for keep, split in ((~flags, part.split), (flags, "test")):
            if keep.any():
                cut = _dated(_pick(part.lines, keep), split, part.suffix)
                if split == "test":
                    cut.keep = cut.lines.columns[_slot(part)] >= cut.lines.columns[_total(part)]
                out.append(cut)
    return out


def _counts_inside(part: DatedLines) -> bool:
    """A bar or count towards a total, in a line that does not name its epoch."""
    shape = part.lines.shape
    return (
        shape.inner is not None
        and shape.epoch is None
        and shape.step is None
        and shape.slots[shape.inner].total is not None
        and part.split not in ("val", "test")
    )


def _slot(part: DatedLines) -> int:
    return part.lines.shape.inner or 0


def _total(part: DatedLines) -> int:
    return part.lines.shape.slots[_slot(part)].total or 0
