"""From a sample of a log to the shapes of its lines, and what each of their numbers is."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.core import names
from traindx.logs.text.fields import NumberSlot, counter_of, line_split, name_slots
from traindx.logs.text.numerals import floats
from traindx.logs.text.shapes import CODE, LineShape, find_roles, is_informative
from traindx.logs.text.skeleton import BAR, NUMBER, pattern, skeletons, slot_count
from traindx.logs.text.tables import HeadedRows, by_header
from traindx.logs.text.terms import name_terms

_LONGEST = 8192
_MAX_SLOTS = 300
_MAX_SHAPES = 80
_MAX_RARE = 1500
_PROBE_LINES = 200
_HINT = re.compile(rb"(?i)loss|acc|epoch|step|iter|err|ppl|perplex|reward|score|cost|[\x80-\xff]")


class Sample:
    """Lines of a cleaned stretch of log, each with its skeleton."""

    def __init__(self, cleaned: bytes) -> None:
        lines = cleaned.split(b"\n")
        if any(len(line) > _LONGEST for line in lines):
            lines = [line if len(line) <= _LONGEST else b"" for line in lines]
            cleaned = b"\n".join(lines)
        self.text = cleaned
        self.lines = lines
        self.bones = skeletons(cleaned)


def learn(sample: Sample, known_shapes: Sequence[LineShape] = ()) -> list[LineShape]:
    """The shapes worth reading in a sample, most frequent first, beyond those already known."""
    learned = {shape.skeleton for shape in known_shapes}
    groups: dict[bytes, list[int]] = {}
    for number, bone in enumerate(sample.bones):
        if NUMBER in bone and len(bone) < 4000 and bone not in learned:
            groups.setdefault(bone, []).append(number)
    rare = [bone for bone, where in groups.items() if len(where) < 3]
    if len(rare) > _MAX_RARE:
        hinted = [bone for bone in rare if _HINT.search(bone)]
        for bone in set(rare).difference(hinted[:_MAX_RARE]):
            del groups[bone]
    shapes = [shape for bone, where in groups.items() for shape in _shapes(bone, where, sample)]
    return _choose(shapes, known_shapes)


def _shapes(bone: bytes, where: list[int], sample: Sample) -> list[LineShape]:
    if slot_count(bone) > _MAX_SLOTS:
        return []
    slots = name_slots(bone)
    name_terms(bone.split(NUMBER), slots)
    groups = by_header(bone, slots, where, sample.lines, sample.bones)
    shapes = [shape for group in groups if (shape := _shape(bone, group, sample)) is not None]
    for shape in shapes:
        shape.headers = tuple(group.header for group in groups if group.header)
    return shapes


def _shape(bone: bytes, group: HeadedRows, sample: Sample) -> LineShape | None:
    slots, where = group.slots, group.rows
    if not _promising(slots, len(where)):
        return None
    regex = pattern(bone, set(range(len(slots))))
    probe_lines = where[:: max(1, len(where) // _PROBE_LINES)]
    text = b"\n" + b"\n".join(sample.lines[i] for i in probe_lines) + b"\n"
    rows = regex.findall(text)
    if len(rows) < 0.8 * len(probe_lines):
        return None
    probe = [floats(rows, at if len(slots) > 1 else None) for at in range(len(slots))]
    shape = LineShape(bone, len(where), where[0], where[-1], slots, line_split(bone, slots), BAR in bone)
    shape.header = group.header
    find_roles(shape, probe)
    if not shape.counts and not shape.values:
        return None
    return shape


def _promising(slots: list[NumberSlot], count: int) -> bool:
    """Whether a shape may turn out worth reading: judged by names alone, before any matching."""
    for slot in slots:
        if slot.kind != "value":
            continue
        if slot.name and (meaning := names.understand(slot.name)).known and is_informative(meaning.metric):
            return True
        if slot.name and counter_of(slot.name) and (count >= 2 or slot.total is not None):
            return True
        if count >= 3 and (slot.keyed or slot.total is not None or not slot.name):
            return True
    return False


def _slots_to_read(shape: LineShape) -> list[int]:
    slots = set(shape.values)
    for i in (shape.step, shape.epoch, shape.inner, shape.rank):
        if i is not None:
            slots.add(i)
    for i in (shape.inner, *shape.values):
        total = shape.slots[i].total if i is not None else None
        if total is not None and (
            i == shape.inner or names.understand(shape.slots[i or 0].name).metric == "accuracy"
        ):
            slots.add(total)
    return sorted(slots)


def _choose(shapes: list[LineShape], known_shapes: Sequence[LineShape]) -> list[LineShape]:
    """Keep the lines that report the training; drop those that merely contain numbers."""
    strong = [s for s in shapes if s.strong()]
    often = [s for s in strong if s.count >= 2 and (s.counts or s.judged())]
    shapes_to_read = often + _singles([s for s in strong if s.count == 1], often, known_shapes)
    if not shapes_to_read and not known_shapes:
        shapes_to_read = [s for s in shapes if _counts_something(s)]
    if not shapes_to_read:
        return []
    begin, end = min(s.first for s in shapes_to_read), max(s.last for s in shapes_to_read)
    highest_count = max(s.count for s in [*shapes_to_read, *known_shapes])
    shapes_to_read += [s for s in strong if s.count >= 2 and not (s.counts or s.judged()) and s.last >= begin]
    for s in shapes:
        if s.strong():
            continue
        s.values = [i for i in s.values if _plain_field(s, i) and not CODE.search(s.skeleton)]
        frequent = s.count >= max(3, 0.2 * min(highest_count, 200)) and s.last >= begin and s.first <= end
        if not frequent:
            s.values = []
        if (s.counts and (s.count >= 2 or s.epoch is not None)) or s.values:
            shapes_to_read.append(s)
    shapes_to_read.sort(key=lambda s: (not s.strong(), -s.count))
    for s in shapes_to_read[:_MAX_SHAPES]:
        s.wanted = _slots_to_read(s)
        s.units = [i for i in s.values if s.slots[i].timed]
        s.regex = pattern(s.skeleton, set(s.wanted), set(s.units))
    return shapes_to_read[:_MAX_SHAPES]


def _counts_something(shape: LineShape) -> bool:
    """Whether lines without a known metric still show a course: a named counter and moving values."""
    if shape.count < 5 or (shape.step is None and shape.epoch is None) or CODE.search(shape.skeleton):
        return False
    shape.values = [i for i in shape.values if shape.slots[i].keyed]
    return bool(shape.values)


def _variant(single: LineShape, often: Sequence[LineShape]) -> bool:
    """A line that lacks, or adds, only the end of a frequent one."""
    if len(single.slots) < 2 or not single.counts:
        return False
    return any(
        s.skeleton.startswith(single.skeleton) or single.skeleton.startswith(s.skeleton) for s in often
    )


def _plain_field(shape: LineShape, i: int) -> bool:
    """`name=3`, or a lone word next to its number in a line with a counter."""
    return shape.slots[i].keyed or (shape.counts and " " not in shape.slots[i].name and len(shape.slots) <= 3)


def _singles(
    singles: list[LineShape], often: list[LineShape], known_shapes: Sequence[LineShape]
) -> list[LineShape]:
    """Lines that occur once: the whole of a one-epoch log, or results after the training.

    What occurs once before the first measurement is a setting.
    """
    known_pairs = {pair for s in [*often, *known_shapes] for pair in s.strong()}
    begin = min((s.first for s in often), default=-1)
    out = []
    for s in sorted(singles, key=lambda s: s.first):
        new = [p for p in s.judged() if p not in known_pairs]
        has_plain_name = any(not names.split_of(s.slots[i].name) for i in s.values if s.pair(i) in new)
        terse = has_plain_name and len(s.skeleton.split()) <= 4
        plain = s.counts or terse or any(s.slots[i].keyed for i in s.values if s.pair(i) in new)
        if new and plain and s.first > begin and not CODE.search(s.skeleton):
            s.values = [i for i in s.values if s.pair(i) not in known_pairs]
            out.append(s)
        elif (s.bar and s.inner is not None and s.judged() and s.first > begin) or _variant(s, often):
            out.append(s)
    return out
