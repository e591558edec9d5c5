"""One shape of line, and what each of its numbers is: counter, rank or value."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from traindx.core import names
from traindx.logs.text.fields import NumberSlot, counter_of
from traindx.logs.text.skeleton import NUMBER

CODE = re.compile(
    rb"\w\((?!s\)|ms\)|%\))|^\s*(?:def|class|import|from|return|if|for|while|@|#|//)\b|(?<!=)==(?![=>])|\+=|;\s*$"
)
# Lines that report a change, not a measurement: their numbers are in other lines too.
_NEWS = re.compile(rb"(?i)\b(?:decreased|improved|improving|increased|did not improve)\b")
_RANK_WORDS = frozenset({"rank", "local_rank", "gpu", "worker", "proc", "process"})


@dataclass
class LineShape:
    """A line that repeats. `step`, `epoch`, `inner` and `rank` are the slots that count."""

    skeleton: bytes
    count: int
    first: int
    last: int
    slots: list[NumberSlot]
    split: str
    bar: bool
    step: int | None = None
    epoch: int | None = None
    inner: int | None = None
    rank: int | None = None
    header: bytes = b""
    headers: tuple[bytes, ...] = ()
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
        """The (metric, split) pairs that this shape contains beyond doubt."""
        return [pair for i in self.values if (pair := self.pair(i)) is not None]

    def pair(self, slot: int) -> tuple[str, str] | None:
        meaning = names.understand(self.slots[slot].name)
        if not meaning.known or not is_informative(meaning.metric) or self.slots[slot].kind != "value":
            return None
        split = meaning.split or self.split or "train"
        scope = "" if meaning.scope == "mean" else meaning.scope
        return f"{meaning.metric}/{meaning.part}{scope}", split


def is_informative(metric: str) -> bool:
    """Metrics that make a line worth reading on their own."""
    return names.METRICS[metric].goal != "none" or metric in ("lr", "grad_norm", "loss_scale", "score")


def find_roles(shape: LineShape, probe: list[np.ndarray]) -> None:
    """Which slots count, which carry values."""
    code = bool(CODE.search(shape.skeleton))
    for i, slot in enumerate(shape.slots):
        if slot.kind in ("total", "ignored"):
            continue
        data = probe[i][np.isfinite(probe[i])]
        whole = bool(data.size) and bool((data == np.floor(data)).all()) and bool((data >= -1).all())
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


def _scores(shape: LineShape, probe: list[np.ndarray]) -> None:
    """`Loss: 1.9, Train: 0.18, Val: 0.11` and `Val: 75.8%`: next to a named loss, or in percent,
    bare splits are scores; not those that go along with that loss, `loss 4.86 val 4.75`."""
    losses = [
        probe[i]
        for i in shape.values
        if names.understand(name := shape.slots[i].name).metric == "loss" and not names.split_of(name)
    ]
    texts = shape.skeleton.split(NUMBER)
    for i in shape.values:
        slot = shape.slots[i]
        data = probe[i][np.isfinite(probe[i])]
        percent = texts[i + 1].lstrip().startswith(b"%")
        if (
            names.split_of(slot.name)
            and data.size
            and (percent or (losses and 0 <= data.min() <= data.max() <= 100))
            and (percent or not any(_goes_along(probe[i], loss) for loss in losses))
        ):
            slot.name += " accuracy" if percent else " score"


def _goes_along(data: np.ndarray, loss: np.ndarray) -> bool:
    """Whether numbers are of the size of a loss and rise and fall with it."""
    where_both = np.isfinite(data) & np.isfinite(loss)
    data, loss = data[where_both], loss[where_both]
    if data.size < 3 or not (data > 0).all() or not (loss > 0).all():
        return False
    alike = 1 / 3 <= float(np.median(data / loss)) <= 3
    return alike and bool(np.std(data) * np.std(loss) > 0) and float(np.corrcoef(data, loss)[0, 1]) > 0.3


def _nameless_counter(shape: LineShape, probe: list[np.ndarray]) -> None:
    """A whole number without a name that rises: `[120] loss=0.3`, `664: learn: 0.69`.

    Two of them side by side, `[2,  2000]`, are the epoch and the place in it.
    """
    texts = shape.skeleton.split(NUMBER)
    for i, slot in enumerate(shape.slots):
        if slot.kind != "value" or slot.name or not _whole(probe[i]) or probe[i].size < 2:
            continue
        moves = np.diff(probe[i])
        leads = (
            i == 0
            and texts[0] in (b"", b"[", b"(", b"#")
            and texts[1][:1] in (b":", b"]", b"\t", b",", b")", b"-")
        )
        share = (moves >= 0).mean()
        if not moves.any() or share < (0.5 if leads else 1.0) or (probe[i].size < 3 and not leads):
            continue
        following = shape.slots[i + 1] if i + 1 < len(shape.slots) else None
        if (
            following
            and not following.name
            and following.kind == "value"
            and texts[i + 1].strip() in (b",", b"][", b":", b"-")
            and _whole(probe[i + 1])
        ):
            shape.epoch, shape.inner = i, i + 1
        else:
            slot.name, shape.step = "step", i
        return


def _whole(data: np.ndarray) -> bool:
    return (
        bool(data.size)
        and bool(np.isfinite(data).all())
        and bool((data == np.floor(data)).all())
        and bool(data.min() >= -1)
    )


def _alike(value: np.ndarray, mean: np.ndarray) -> bool:
    """Whether bracketed numbers can be running means of the ones before them (not differences)."""
    a, b = np.abs(value[np.isfinite(value)]), np.abs(mean[np.isfinite(mean)])
    if not a.size or not b.size:
        return True
    if (value >= 0).all() and (mean < 0).any():
        return False
    return bool(0.02 * np.median(a) <= np.median(b) <= 50 * np.median(a) or np.median(a) == 0)


def _count_slot(shape: LineShape, i: int, slot: NumberSlot, data: np.ndarray, whole: bool) -> bool:
    """Take a slot as a counter when its name or its place says so."""
    name = counter_of(slot.name) if slot.name else ""
    rising = data.size >= 2 and bool((np.diff(data) >= 0).mean() >= 0.9) and data[-1] > data[0]
    if not name and whole and rising and _at_place(slot.name):
        name = "epoch" if bool((np.diff(data) == 1).all()) else "step"
    if not name:
        bare_split = bool(slot.name) and names.split_of(slot.name) != ""
        if bare_split and whole and slot.total is not None:
            shape.inner = i if shape.inner is None else shape.inner
            return True
        if bare_split and whole and i == 0 and rising:
            name = "epoch"
        elif bare_split and whole and data.size >= 3 and data.min() == data.max():
            slot.kind = "ignored"
            return True
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
        current = names.counter_rank(counter_of(shape.slots[shape.step].name))
        if rank is not None and current is not None and rank < current:
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


def _at_place(name: str) -> bool:
    """`eval @ 1000: val_loss 2.9`: a number behind such a word says when."""
    return name.split(" ")[-1].lower() in ("@", "at", "#")


def _follows_counter(shape: LineShape, i: int) -> bool:
    between = shape.skeleton.split(NUMBER)[i].strip()
    return (i - 1) in (shape.epoch, shape.step) and between in (b"][", b":", b"-", b"/", b"] [", b",")
