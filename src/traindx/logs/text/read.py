"""A text log to its trainings: learn the shapes, scan the file, date the lines, find the settings."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from traindx.core.nouns import CRASHES, Event, Unreadable
from traindx.logs.lines import encoding_of
from traindx.logs.log import Log
from traindx.logs.log_file import File
from traindx.logs.text import gather
from traindx.logs.text.clean import pieces
from traindx.logs.text.learn import Sample, learn
from traindx.logs.text.marks import Marks, Signs, headers, sections
from traindx.logs.text.printed_config import nested_settings, settings_in
from traindx.logs.text.scan import ShapeLines, scan
from traindx.logs.text.shapes import LineShape
from traindx.logs.text.stamps import Stamps
from traindx.logs.text.timeline import Timeline, date_lines

_WHOLE_BELOW = 1 << 20
_SAMPLE_HEAD = 384 << 10
_SAMPLE_BLOCKS = 40
_SAMPLE_BLOCK = 16 << 10
_SCAN_CHUNK = 4 << 20
_REGION = 256 << 10
_LINE = 16 << 10
_TRACEBACK_LINES = 400
_NO_METRIC = "no line repeats with a metric that changes, such as `step 10: loss 0.5`"


def logs_of(file: File) -> list[Log]:
    """The trainings in a text log."""
    sample = Sample(_sample(file))
    shapes = learn(sample)
    if not shapes:
        return _crashed(sample.text)
    signs, stamps = Signs(), Stamps(sample.text)
    splits, titles = sections(sample.bones), headers(shapes)
    residue: list[bytes] | None = [] if _large(file) else None
    lines = _scan(file, shapes, [splits, signs, titles, stamps], residue)
    if residue:
        further_shapes = learn(Sample(b"\n" + b"\n".join(residue) + b"\n"), shapes)
        if further_shapes:
            lines += _scan(file, further_shapes, [], None)
    if not lines:
        raise Unreadable(_NO_METRIC)
    timeline = date_lines(lines, splits.marks(), titles.marks())
    logs = gather.logs(timeline, stamps)
    _settings(file, timeline, logs)
    for log, span in zip(logs, timeline.spans, strict=True):
        gather.with_events(log, span, timeline, signs.events)
    return logs


def _crashed(text: bytes) -> list[Log]:
    """A log that ends with a traceback before anything was measured; raises where it does not."""
    signs = Signs()
    signs.scan(text, 0)
    crashes = [sign for sign in signs.events if sign.kind in CRASHES]
    after = text[crashes[-1].offset :] if crashes else b""
    if not crashes or after.count(b"\n") > _TRACEBACK_LINES:
        raise Unreadable(_nothing(text))
    events = [Event(sign.kind, sign.text, None, sign.data) for sign in crashes]
    note = "nothing was measured before the error"
    return [Log([], "row", dict(settings_in(text[: crashes[0].offset])), events, [note])]


def _nothing(sample: bytes) -> str:
    """Why there is no run, with the last progress bar where one was printed."""
    bars = re.findall(rb"(\d{1,12})/(\d{1,12}) \[\d{1,4}:\d\d", sample)
    if bars:
        steps_done, total = bars[-1]
        return f"only progress bars, the last at {int(steps_done)} of {int(total)}; no metric was printed"
    return _NO_METRIC


def _large(file: File) -> bool:
    """Whether shapes are learned from samples of the file; the size of a packed one is not known."""
    return file.gzipped or file.size > _WHOLE_BELOW


def _sample(file: File) -> bytes:
    """The whole of a small file; the head and blocks spread over a large one."""
    if file.gzipped:
        return b"".join(pieces([file.read(_WHOLE_BELOW)]))
    if not _large(file):
        return b"".join(pieces(file.chunks(_SCAN_CHUNK)))
    encoding = encoding_of(file.head)[0]
    with file.open() as handle:
        parts = list(pieces([handle.read(_SAMPLE_HEAD)]))
        for block in range(_SAMPLE_BLOCKS + 1):
            at = _SAMPLE_HEAD + (file.size - _SAMPLE_HEAD - _SAMPLE_BLOCK) * block // _SAMPLE_BLOCKS
            handle.seek(at - at % 2)
            text = b"".join(pieces([handle.read(_SAMPLE_BLOCK)], encoding))
            parts.append(text[text.find(b"\n", 1) : text.rfind(b"\n", 0, -2) + 1])
    return b"".join(parts)


def _scan(
    file: File,
    shapes: list[LineShape],
    scanners: Sequence[Marks[str] | Marks[bytes] | Signs | Stamps],
    residue: list[bytes] | None,
) -> list[ShapeLines]:
    def scanned() -> Iterator[bytes]:
        base = 0
        for piece in pieces(file.chunks(_SCAN_CHUNK)):
            for scanner in scanners:
                scanner.scan(piece, base)
            yield piece
            base += len(piece)

    return scan(scanned(), shapes, 0 if file.gzipped else file.size, residue)


def _settings(file: File, timeline: Timeline, logs: list[Log]) -> None:
    """Read the settings that are printed before each training's first measurement, or in its line."""
    by_part = [p.lines.offsets for p in timeline.dated if p.lines.shape.judged() and p.lines.shape.count > 1]
    by_part = by_part or [p.lines.offsets for p in timeline.dated]
    regions = []
    for span in timeline.spans:
        places = [int(np.searchsorted(offsets, span.begin)) for offsets in by_part]
        first = min((int(o[at]) for o, at in zip(by_part, places, strict=True) if at < o.size), default=0)
        before = max((int(o[at - 1]) for o, at in zip(by_part, places, strict=True) if at > 0), default=0)
        regions += [(max(before, first - _REGION), first), (first, first + _LINE)]
    texts = _cut(file, regions)
    for number, log in enumerate(logs):
        above, line = texts[2 * number], texts[2 * number + 1].lstrip(b"\n").split(b"\n", 1)[0]
        if regions[2 * number][0]:
            above = above[above.find(b"\n", 1) :]
        measured = {column.name for column in log.columns}
        inside = {key: value for key, value in nested_settings(line).items() if key not in measured}
        log.config = {**settings_in(above), **inside, **log.config}
    for earlier, later in pairwise(logs):
        if not later.config:
            later.config = dict(earlier.config)


def _cut(file: File, regions: list[tuple[int, int]]) -> list[bytes]:
    out = [b""] * len(regions)
    base = 0
    last = max(end for _, end in regions)
    for piece in pieces(file.chunks(_SCAN_CHUNK)):
        for i, (begin, end) in enumerate(regions):
            if begin < base + len(piece) and end > base:
                out[i] += piece[max(begin - base, 0) : end - base]
        base += len(piece)
        if base >= last:
            break
    return out
