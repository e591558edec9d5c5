"""From a sample of a log to the shapes of its lines, and what each of their numbers is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from traindx import names
from traindx.reading.textlog.fields import Slot, counter_of, line_split, name_slots
from traindx.reading.textlog.numbers import floats
from traindx.reading.textlog.skeleton import BAR, NUMBER, pattern, skeletons, slot_count
from traindx.reading.textlog.tables import header_names

_MAX_SLOTS = 120
_MAX_SHAPES = 80
_PROBE_LINES = 200
_CODE = re.compile(rb"\w\((?!s\)|ms\)|%\))|^\s*(?:def|class|import|from|return|if|for|while|@|#|//)\b|==|\+=|;\s*$")
# Lines that tell of a change, not of a measurement: their numbers stand elsewhere too.
_NEWS = re.compile(rb"(?i)\b(?:decreased|improved|increased|did not improve)\b")
_RANK_WORDS = frozenset({"rank", "local_rank", "gpu", "worker", "proc", "process"})


class Sample:
    """Lines of a cleaned stretch of log, each with its skeleton."""

    def __init__(self, cleaned: bytes) -> None:
        self.text = cleaned
        self.lines = cleaned.split(b"\n")
        self.bones = skeletons(cleaned)


@dataclass
class Shape:
    """A line that repeats. `step`, `epoch`, `inner` and `rank` are the slots that count."""

    skeleton: bytes
    count: int
    first: int
    last: int
    slots: list[Slot]
    split: str
    bar: bool
    step: int | None = None
    epoch: int | None = None
    inner: int | None = None
    rank: int | None = None
    values: list[int] = field(default_factory=list)
    wanted: list[int] = field(default_factory=list)
    units: list[int] = field(default_factory=list)
    regex: re.Pattern[bytes] = re.compile(b"(?!)")

    @property
    def counts(self) -> bool:
        return self.step is not None or self.epoch is not None or self.inner is not None

    def judged(self) -> list[tuple[str, str]]:
        """The strong pairs of which less or more is better: a loss, an accuracy."""
        return [p for p in self.strong() if names.METRICS[p[0].split("/")[0]].goal != "none"]

    def strong(self) -> list[tuple[str, str]]:
        """The (metric, split) pairs this shape tells beyond doubt."""
        return [pair for i in self.values if (pair := self.pair(i)) is not None]

    def pair(self, slot: int) -> tuple[str, str] | None:
        meaning = names.understand(self.slots[slot].name)
        if not meaning.known or not _telling(meaning.metric) or self.slots[slot].kind != "value":
            return None
        split = meaning.split or self.split or "train"
        return f"{meaning.metric}/{meaning.part}{meaning.scope}", split


def _telling(metric: str) -> bool:
    """Metrics that make a line worth reading on their own."""
    return names.METRICS[metric].goal != "none" or metric in ("lr", "grad_norm", "loss_scale", "score")


def learn(sample: Sample, known: Sequence[Shape] = ()) -> list[Shape]:
    """The shapes worth reading in a sample, most frequent first, beyond those already known."""
    learned = {shape.skeleton for shape in known}
    groups: dict[bytes, list[int]] = {}
    for number, bone in enumerate(sample.bones):
        if NUMBER in bone and len(bone) < 4000 and bone not in learned:
            groups.setdefault(bone, []).append(number)
    shapes = [shape for bone, where in groups.items() if (shape := _shape(bone, where, sample)) is not None]
    return _choose(shapes, known)


def _shape(bone: bytes, where: list[int], sample: Sample) -> Shape | None:
    if slot_count(bone) > _MAX_SLOTS:
        return None
    slots = name_slots(bone)
    header = header_names(bone, slots, where, sample.lines, sample.bones)
    if header is not None:
        slots = header
    if not _promising(slots, len(where)):
        return None
    regex = pattern(bone, set(range(len(slots))))
    picked = where[:: max(1, len(where) // _PROBE_LINES)]
    text = b"\n" + b"\n".join(sample.lines[i] for i in picked) + b"\n"
    rows = regex.findall(text)
    if len(rows) < 0.8 * len(picked):
        return None
    probe = [floats(rows, at if len(slots) > 1 else None) for at in range(len(slots))]
    shape = Shape(bone, len(where), where[0], where[-1], slots, line_split(bone), BAR in bone)
    _roles(shape, probe)
    if not shape.counts and not shape.values:
        return None
    return shape


def _promising(slots: list[Slot], count: int) -> bool:
    """Whether a shape may turn out worth reading: judged by names alone, before any matching."""
    for slot in slots:
        if slot.kind != "value":
            continue
        if slot.name and (meaning := names.understand(slot.name)).known and _telling(meaning.metric):
            return True
        if slot.name and counter_of(slot.name) and (count >= 2 or slot.total is not None):
            return True
        if count >= 3 and (slot.keyed or slot.total is not None or not slot.name):
            return True
    return False


def _roles(shape: Shape, probe: list[np.ndarray]) -> None:
    """Which slots count, which carry values."""
    code = bool(_CODE.search(shape.skeleton))
    for i, slot in enumerate(shape.slots):
        if slot.kind in ("total", "ignored"):
            continue
        data = probe[i][np.isfinite(probe[i])]
        whole = bool(data.size) and bool((data == np.floor(data)).all()) and bool((data >= 0).all())
        if slot.kind == "value" and slot.name.split(" ")[-1].lower().strip("[]") in _RANK_WORDS and whole:
            shape.rank = i if shape.rank is None else shape.rank
            continue
        if slot.kind == "value" and _count_slot(shape, i, slot, data, whole):
            continue
        if slot.kind == "mean" and slot.of is not None and not _alike(probe[slot.of], probe[i]):
            continue
        if slot.name and len(slot.name) <= 60 and not (code and not slot.keyed):
            shape.values.append(i)
    if _NEWS.search(shape.skeleton):
        shape.values = []
    _scores(shape, probe)
    if not shape.counts:
        _nameless_counter(shape, probe)


def _scores(shape: Shape, probe: list[np.ndarray]) -> None:
    """`Loss: 1.9, Train: 0.18, Val: 0.11`: beside a named loss, bare splits are scores."""
    if not any(names.understand(shape.slots[i].name).metric == "loss" and not names.split_of(shape.slots[i].name) for i in shape.values):
        return
    for i in shape.values:
        slot = shape.slots[i]
        data = probe[i][np.isfinite(probe[i])]
        if names.split_of(slot.name) and data.size and data.min() >= 0 and data.max() <= 100:
            slot.name += " score"


def _nameless_counter(shape: Shape, probe: list[np.ndarray]) -> None:
    """A whole number without a name that rises: `[120] loss=0.3`, `664: learn: 0.69`.

    Two of them side by side, `[2,  2000]`, are the epoch and the place in it.
    """
    texts = shape.skeleton.split(NUMBER)
    for i, slot in enumerate(shape.slots):
        if slot.kind != "value" or slot.name or not _whole(probe[i]) or probe[i].size < 2:
            continue
        moves = np.diff(probe[i])
        leads = i == 0 and texts[0] in (b"", b"[", b"(", b"#") and texts[1][:1] in (b":", b"]", b"\t", b",", b")")
        share = (moves >= 0).mean()
        if not moves.any() or share < (0.5 if leads else 1.0) or (probe[i].size < 3 and not leads):
            continue
        following = shape.slots[i + 1] if i + 1 < len(shape.slots) else None
        if following and not following.name and following.kind == "value" and texts[i + 1].strip() in (b",", b"][", b":", b"-") and _whole(probe[i + 1]):
            shape.epoch, shape.inner = i, i + 1
        else:
            slot.name, shape.step = "step", i
        return


def _whole(data: np.ndarray) -> bool:
    return bool(data.size) and bool(np.isfinite(data).all()) and bool((data == np.floor(data)).all()) and bool(data.min() >= 0)


def _alike(value: np.ndarray, mean: np.ndarray) -> bool:
    """Whether bracketed numbers can be running means of the ones before them (not differences)."""
    a, b = np.abs(value[np.isfinite(value)]), np.abs(mean[np.isfinite(mean)])
    if not a.size or not b.size:
        return True
    if (value >= 0).all() and (mean < 0).any():
        return False
    return bool(0.02 * np.median(a) <= np.median(b) <= 50 * np.median(a) or np.median(a) == 0)


def _count_slot(shape: Shape, i: int, slot: Slot, data: np.ndarray, whole: bool) -> bool:
    """Take a slot as a counter when its name or its place says so."""
    name = counter_of(slot.name) if slot.name else ""
    rising = data.size >= 2 and bool((np.diff(data) >= 0).mean() >= 0.9) and data[-1] > data[0]
    if not name:
        bare_split = bool(slot.name) and names.split_of(slot.name) != ""
        if bare_split and whole and slot.total is not None:
            shape.inner = i if shape.inner is None else shape.inner
            return True
        if bare_split and whole and i == 0 and rising:
            name = "epoch"
        elif not slot.name and whole and (slot.total is not None or (i > 0 and _follows_counter(shape, i))):
            if shape.inner is not None and shape.epoch is None:
                shape.epoch = shape.inner
            shape.inner = i
            return True
        else:
            return False
    if not whole and names.axis_of(name) != "epoch":
        return False
    if names.axis_of(name) == "epoch":
        if shape.epoch is None:
            shape.epoch = i
        return True
    rank = names.counter_rank(name)
    if shape.step is not None:
        held = names.counter_rank(counter_of(shape.slots[shape.step].name))
        if rank is not None and held is not None and rank < held:
            if shape.inner is None:
                shape.inner = shape.step
            shape.step = i
        return True
    if rank == 2:
        if shape.inner is None:
            shape.inner = i
        return True
    shape.step = i
    return True


def _follows_counter(shape: Shape, i: int) -> bool:
    between = shape.skeleton.split(NUMBER)[i].strip()
    return (i - 1) in (shape.epoch, shape.step) and between in (b"][", b":", b"-", b"/", b"] [", b",")


def _wanted(shape: Shape) -> list[int]:
    wanted = set(shape.values)
    for i in (shape.step, shape.epoch, shape.inner, shape.rank):
        if i is not None:
            wanted.add(i)
    for i in (shape.inner, *shape.values):
        total = shape.slots[i].total if i is not None else None
        if total is not None and (i == shape.inner or names.understand(shape.slots[i or 0].name).metric == "accuracy"):
            wanted.add(total)
    return sorted(wanted)


def _choose(shapes: list[Shape], known: Sequence[Shape]) -> list[Shape]:
    """Keep the lines that tell of the training; drop what merely holds numbers."""
    strong = [s for s in shapes if s.strong()]
    often = [s for s in strong if s.count >= 2 and (s.counts or s.judged())]
    kept = often + _singles([s for s in strong if s.count == 1], often, known)
    if not kept:
        return []
    begin, end = min(s.first for s in kept), max(s.last for s in kept)
    most = max(s.count for s in [*kept, *known])
    kept += [s for s in strong if s.count >= 2 and not (s.counts or s.judged()) and s.last >= begin]
    for s in shapes:
        if s.strong():
            continue
        s.values = [i for i in s.values if _plain_field(s, i) and not _CODE.search(s.skeleton)]
        frequent = s.count >= max(3, 0.2 * min(most, 200)) and s.last >= begin and s.first <= end
        if not frequent:
            s.values = []
        if (s.counts and (s.count >= 2 or s.epoch is not None)) or s.values:
            kept.append(s)
    kept.sort(key=lambda s: (not s.strong(), -s.count))
    for s in kept[:_MAX_SHAPES]:
        s.wanted = _wanted(s)
        s.units = [i for i in s.values if s.slots[i].timed]
        s.regex = pattern(s.skeleton, set(s.wanted), set(s.units))
    return kept[:_MAX_SHAPES]


def _variant(single: Shape, often: Sequence[Shape]) -> bool:
    """A line that lacks, or adds, only the end of a frequent one."""
    if len(single.slots) < 2 or not single.counts:
        return False
    return any(s.skeleton.startswith(single.skeleton) or single.skeleton.startswith(s.skeleton) for s in often)


def _plain_field(shape: Shape, i: int) -> bool:
    """`name=3`, or a lone word beside its number in a line that counts."""
    return shape.slots[i].keyed or (shape.counts and " " not in shape.slots[i].name and len(shape.slots) <= 3)


def _singles(singles: list[Shape], often: list[Shape], known: Sequence[Shape]) -> list[Shape]:
    """Lines that stand once: the whole of a one-epoch log, or results after the training.

    What stands once before the first measurement is a setting.
    """
    told = {pair for s in [*often, *known] for pair in s.strong()}
    begin = min((s.first for s in often), default=-1)
    out = []
    for s in sorted(singles, key=lambda s: s.first):
        new = [p for p in s.judged() if p not in told]
        if new and s.first > begin and (often or known or s.counts or len(new) < 12):
            s.values = [i for i in s.values if s.pair(i) not in told]
            out.append(s)
        elif (s.bar and s.inner is not None and s.judged() and s.first > begin) or _variant(s, often):
            out.append(s)
    return out
