"""Dated lines to logs: one column per name and split, one log per training."""

from __future__ import annotations

import numpy as np

from traindx.core import names
from traindx.core.nouns import BoolArray, Event, FloatArray, IntArray
from traindx.logs.log import Column, Log
from traindx.logs.text.dated import DatedLines
from traindx.logs.text.marks import Sign
from traindx.logs.text.stamps import Stamps
from traindx.logs.text.timeline import LineSpan, Timeline, metric_key, values_of

Piece = tuple[IntArray, FloatArray, FloatArray]


def logs(timeline: Timeline, stamps: Stamps) -> list[Log]:
    """One log per training found in the text."""
    out = []
    for number, span in enumerate(timeline.spans, 1):
        log = _log(timeline, span, stamps)
        if len(timeline.spans) > 1 and not any(_is_scored(c.name) for c in log.columns):
            log.columns = []
            log.notes = [f"part {number} of it stopped before it logged a loss or another result"]
        out.append(log)
    return out


def _is_scored(name: str) -> bool:
    meaning = names.understand(name)
    return meaning.known and names.METRICS[meaning.metric].goal != "none"


def _log(timeline: Timeline, span: LineSpan, stamps: Stamps) -> Log:
    pieces: dict[tuple[str, str], list[Piece]] = {}
    config: dict[str, object] = {}
    final = {
        metric_key(p.lines.shape.slots[i].name, p.split)
        for p in timeline.dated
        if p.scope != "bar" and (p.lines.offsets.size > 1 or not p.lines.shape.bar)
        for i in p.lines.shape.values
    }
    for part in timeline.dated:
        for slot in part.lines.shape.values:
            if _is_printed_setting(part, slot, len(timeline.spans)):
                continue
            for name, piece in _slot_pieces(part, slot, span, final):
                pieces.setdefault((name, part.split), []).append(piece)
    columns = []
    for (name, split), parts in pieces.items():
        offsets, steps, values = (
            (np.concatenate(x) for x in zip(*parts, strict=True)) if len(parts) > 1 else parts[0]
        )
        if len(parts) > 1:
            order = np.argsort(offsets, kind="stable")
            offsets, steps, values = offsets[order], steps[order], values[order]
        if timeline.axis == "row":
            steps = np.arange(values.size, dtype=float)
        if _is_setting(name, values):
            config[name] = float(values[0])
            continue
        if _never_moves(name, values):
            continue
        columns.append(Column(name, steps, values, stamps.at(offsets), split or None, places=offsets))
    events = [event for _, _, event in span.resumes]
    return Log(columns, timeline.axis, config=config, events=events)


def _slot_pieces(
    part: DatedLines, slot: int, span: LineSpan, final: set[tuple[str, str]]
) -> list[tuple[str, Piece]]:
    offsets, steps, values, is_complete = values_of(part, slot, span)
    if not values.size:
        return []
    name = part.lines.shape.slots[slot].name + part.suffix
    if (share := _share(part, slot, span)) is not None:
        values = share
    if part.lines.shape.slots[slot].kind == "mean":
        return [(name + "@mean", (offsets, steps, values))]
    if is_complete is not None and metric_key(name, part.split) in final:
        return [(name + "@bar", (offsets, steps, values))]
    if is_complete is not None:
        return _bar_pieces(name, (offsets, steps, values), is_complete)
    return [(f"{name}@{part.scope}" if part.scope else name, (offsets, steps, values))]


def _share(part: DatedLines, slot: int, span: LineSpan) -> FloatArray | None:
    """`Accuracy: 9837/10000 (98%)` is a share, in percent where the log says so, not a count."""
    total = part.lines.shape.slots[slot].total
    if total is None or total not in part.lines.columns:
        return None
    hits, of = values_of(part, slot, span)[2], values_of(part, total, span)[2]
    if hits.size != of.size or not (of > 0).all():
        return None
    return hits / of * (100.0 if part.lines.shape.slots[slot].percent else 1.0)


def _bar_pieces(name: str, piece: Piece, is_complete: BoolArray) -> list[tuple[str, Piece]]:
    """A bar redrawn: whole epochs under the plain name, what is between them as `@bar`."""
    offsets, steps, values = piece
    last = is_complete & ~np.append((steps[1:] == steps[:-1]) & is_complete[1:], False)
    out: list[tuple[str, Piece]] = []
    if last.any():
        out.append((name, (offsets[last], steps[last], values[last])))
    if not is_complete.all():
        scope = "@bar" if last.any() else ""
        out.append((name + scope, (offsets[~is_complete], steps[~is_complete], values[~is_complete])))
    return out


def _is_printed_setting(part: DatedLines, slot: int, runs: int) -> bool:
    """`base_lr: 0.6` among the settings printed when each training begins."""
    metric = names.understand(part.lines.shape.slots[slot].name).metric
    return part.level == "none" and metric in ("lr", "grad_norm") and part.lines.offsets.size <= runs


def _never_moves(name: str, values: FloatArray) -> bool:
    """A number of unknown meaning that never moves: a source line, a process id."""
    return values.size >= 5 and not names.understand(name).known and bool((values == values[0]).all())


def _is_setting(name: str, values: FloatArray) -> bool:
    """A setting printed with every line, or once: known as one, never moving, and no metric."""
    meaning = names.understand(name)
    if values.size == 1 and meaning.metric in ("lr", "grad_norm") and names.setting_name(name) is not None:
        return True
    if meaning.known and names.METRICS[meaning.metric].goal != "none":
        return False
    if meaning.known and meaning.metric not in ("batch_size",):
        return False
    return names.setting_name(name) is not None and bool((values == values[0]).all())


def step_at(timeline: Timeline, offset: int) -> float | None:
    """The step the log had reached at an offset."""
    at = int(np.searchsorted(timeline.track_offsets, offset, side="right")) - 1
    return float(timeline.track_steps[at]) if at >= 0 else None


def with_events(log: Log, span: LineSpan, timeline: Timeline, signs: list[Sign]) -> None:
    for sign in signs:
        if span.begin <= sign.offset < span.end:
            step = step_at(timeline, sign.offset)
            # Measurements follow: it did not end the program.
            data = {**sign.data, "continued": True} if step is None else sign.data
            log.events.append(Event(sign.kind, sign.text, step, data))
