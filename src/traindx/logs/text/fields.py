"""What the numbers of a line are called, from the words around them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from traindx.core import names
from traindx.logs.text.clean import text
from traindx.logs.text.skeleton import NUMBER, UNITS
from traindx.logs.text.skeleton import UNIT as TIME_UNIT

Kind = Literal["value", "total", "mean", "ignored"]

_BYTES_UNIT = re.compile(rb"^ ?(?:[KMGT]i?B|[kmgt]b|[MG])(?![A-Za-z_])")
_POWER = {b"k": 1, b"m": 2, b"g": 3, b"t": 4}
_UNIT = re.compile(rb"^(%|\x05|" + UNITS + rb"(?![A-Za-z_]))(/[A-Za-z]+)?")
_BOUNDARY = re.compile(
    rb"[,;|\t\[\](){}<>\x02-\x05]| - | -$|^- |\|\||->|=>|--+|\*\*|\. |\\n| \x01|(?<=\s)[#~>]+(?=\s)"
    rb"|\xef\xbc\x8c|\xe3\x80\x82"
)
_QUALIFIER = re.compile(rb"(?<=\w) ?\(([^()\x01]{1,20})\)$")
_AGGREGATE = re.compile(rb"\b(avg|mean|average|max|min|std|sum)\(([\w/.]{1,40})\)$")
# `|g|`, `||grad||`
_NORM = re.compile(rb"(?:\|{1,2}|\xe2\x80\x96)[A-Za-z]{1,8}(?:\|{1,2}|\xe2\x80\x96)$")
_MEANS = (b"(", b"(avg:", b"(avg", b"(mean:", b"(mean", b"(ave:")
_SPREAD = (b"+", b"\xc2\xb1", b"+/-", b"+-")
_COUNTER_BEHIND = re.compile(rb"(?:epoch|batch|iter|step)(?![A-Za-z_])")
_SOURCE_LINE = re.compile(rb"\w\.(?:py|cc|cpp|cu|c|h|rs|go|java|js|lua):$")
_PROSE_END = re.compile(rb"\b(?:the|of|on|over|for|in|from|all|first|last)$", re.I)
_CLOCKS = {b"ms": 1e-3, b"us": 1e-6, b"s": 1.0, b"sec": 1.0, b"min": 60.0}
_SHARES = ("gpu_busy_share", "gpu_mem_share")
_OPENERS = b" \t[({<'\"$~"
_WORD = re.compile(rb"[^\s\x01-\x05]+")
_NOISE_WORDS = frozenset(
    b"info warning debug error info: root the with and at is "
    b"finished done after was of to in got for end".split()
)
_SPLIT_WORD = re.compile(
    rb"(?:^|[\s\[(|>*=#:_\-\"'])(train|training|val|valid|validation|validating|eval|evaluation|evaluating|dev|held-?out|hold-?out|test|testing)(?=$|[\s\](})|,:<*=#\-\"'.])",
    re.I,
)


@dataclass
class NumberSlot:
    """One number of a shape: its name as written, and what it is to its neighbours."""

    name: str
    kind: Kind = "value"
    keyed: bool = False
    timed: bool = False
    factor: float = 1.0
    total: int | None = None
    of: int | None = None
    right: bool = False
    prose: bool = False
    percent: bool = False


def name_slots(skeleton: bytes) -> list[NumberSlot]:
    """A slot for every number of the skeleton, in order."""
    texts = skeleton.split(NUMBER)
    slots: list[NumberSlot] = []
    for i in range(len(texts) - 1):
        before, after = texts[i], texts[i + 1]
        slot = _name_slot(before, after, slots, first=i == 0)
        slot.timed = after.startswith(TIME_UNIT)
        slot.prose = bool(_PROSE_END.search(before.rstrip()))
        bytes_unit = _BYTES_UNIT.match(after)
        if bytes_unit and slot.name and _is_memory(slot.name):
            binary = b"i" in bytes_unit[0]
            slot.factor = float((1024 if binary else 1000) ** _POWER[bytes_unit[0].strip()[:1].lower()])
            slot.name += " [bytes]"
        elif after.startswith(b"%") and names.understand(f"{slot.name} %").metric in _SHARES:
            slot.name += " %"
        slots.append(slot)
    _carry_splits(slots)
    _keep_apart(slots)
    return slots


def _is_memory(name: str) -> bool:
    """Whether it is a memory whose own name has no unit."""
    metric = names.understand(name).metric
    return metric == "gpu_mem" or (
        metric == "rss_bytes" and names.unit_factor(name) == 1.0 and "byte" not in name
    )


def _carry_splits(slots: list[NumberSlot]) -> None:
    """`Valid acc: 0.3 | loss: 2.0`, `valid=2.0 acc=0.3`: a split named once applies to the metrics after it,
    until one repeats."""
    word, bare, measured = "", False, set[tuple[str, str]]()
    for slot in slots:
        if slot.kind != "value" or not slot.name:
            continue
        meaning, first = names.understand(slot.name), slot.name.split(" ")[0]
        kind = (meaning.metric, meaning.part)
        if meaning.split:
            is_word = names.split_of(first) in ("val", "test")
            word, bare, measured = (first if is_word else ""), slot.name == first, {kind}
        elif not word or counter_of(slot.name) or kind in measured:
            continue
        elif _measured(meaning) and (meaning.known or not bare):
            measured.add(kind)
            slot.name = f"{word} {slot.name}"


def _measured(meaning: names.Meaning) -> bool:
    """What a split can be measured on: not the learning rate, nor times and memory."""
    if not meaning.known:
        return True
    return names.METRICS[meaning.metric].goal != "none" or meaning.metric in ("score", "kl", "entropy")


def _keep_apart(slots: list[NumberSlot]) -> None:
    """Two values of one name in one line are two things: the second is numbered."""
    counts: dict[str, int] = {}
    for slot in slots:
        if slot.kind == "value" and slot.name:
            counts[slot.name] = counts.get(slot.name, 0) + 1
            if counts[slot.name] > 1 and not counter_of(slot.name):
                slot.name += f"#{counts[slot.name]}"


def _name_slot(before: bytes, after: bytes, slots: list[NumberSlot], *, first: bool) -> NumberSlot:
    previous = slots[-1] if slots else None
    if previous is not None:
        unit = _BYTES_UNIT if previous.name.endswith("[bytes]") else _UNIT
        before = unit.sub(b"", before, count=1)
        related = _related(before.strip(), after, previous, slots)
        if related is not None:
            return related
    if _SOURCE_LINE.search(before):
        return NumberSlot("", "ignored")
    name, keyed, factor = _left_name(before, whole_line=first)
    if name.lower() in ("eta", "remaining", "time left") or "..." in name:
        return NumberSlot(name, "ignored")
    if previous is not None and keyed and name and _in_prose(slots, before):
        previous.kind = "ignored"
        name = f"{previous.name} {name}"
    if not name and (counter := _COUNTER_BEHIND.match(after)):
        return NumberSlot(text(counter[0]), right=True)
    if not name and previous is not None and before.strip().lower() in (b"is", b"was", b":", b"=", b"->"):
        name = _subject(previous.name)
        keyed = bool(name)
    if not name and (right := _right_name(after, any(s.right for s in slots))):
        return NumberSlot(right, right=True)
    timed = names.understand(name).metric.endswith("_s")
    return NumberSlot(name, keyed=keyed, factor=factor if timed else 1.0)


def _related(bare: bytes, after: bytes, previous: NumberSlot, slots: list[NumberSlot]) -> NumberSlot | None:
    """A number that belongs to the one before it: a total, a share, a running mean, a spread."""
    here = len(slots)
    if bare.lower() in (b"/", b"of", b"out of") and previous.kind == "value" and previous.total is None:
        previous.total = here
        return NumberSlot(previous.name, "total", of=here - 1)
    if bare == b"=" and previous.kind == "total" and previous.of is not None:
        slots[previous.of].kind = "ignored"
        return NumberSlot(previous.name, "value", keyed=True)
    if bare == b"-" and (counter := _COUNTER_BEHIND.match(after)):
        previous.kind = "ignored"
        return NumberSlot(text(counter[0]), right=True)
    if bare in (b"(", b", (") and after.startswith(b"/") and previous.kind == "value" and previous.name:
        return NumberSlot("", "ignored")
    if bare == b"/" and previous.kind == "ignored":
        return NumberSlot("", "ignored")
    if bare in _SPREAD and previous.kind == "value" and previous.name:
        return NumberSlot("", "ignored")
    if bare == b"(" and after.lstrip().startswith(b"%"):
        if previous.kind == "total" and previous.of is not None:
            slots[previous.of].percent = True
        return NumberSlot("", "ignored")
    if bare == b"(" and after.startswith(TIME_UNIT) and not previous.timed:
        return NumberSlot("", "ignored")
    if bare in _MEANS and previous.kind == "value" and previous.name:
        return NumberSlot(previous.name, "mean", of=here - 1)
    return None


def _in_prose(slots: list[NumberSlot], before: bytes) -> bool:
    """`accuracy on the 10000 test images: 55`: the first number is part of the second one's name."""
    previous = slots[-1]
    plain = not re.search(rb"[,;|=()\[\]\t]", before.rstrip(b":= "))
    return plain and previous.prose and previous.kind == "value" and not counter_of(previous.name)


def _subject(name: str) -> str:
    """`Score at iteration 10 is 1.2`: what is left of a counter's words names the number after it."""
    counter = counter_of(name)
    return name[: -len(counter)].strip() if counter and len(name) > len(counter) else ""


def _left_name(before: bytes, *, whole_line: bool) -> tuple[str, bool, float]:
    """The words in front of a number, whether `=` or `:` joins them to it, and their unit."""
    text_before = before.rstrip(_OPENERS)
    keyed = False
    cell = before.rstrip()
    while text_before[-1:] in (b"=", b":") or text_before.endswith(b"->"):
        keyed = True
        text_before = text_before[:-2] if text_before.endswith(b"->") else text_before[:-1]
        text_before = text_before.rstrip(b" \t'\"")
    if not keyed and cell.endswith(b"|") and whole_line:
        inner = [c.strip() for c in cell.strip(b"|").split(b"|")]
        if len(inner) == 1 and inner[0]:
            return text(inner[0]), True, 1.0
    if (norm := _NORM.search(text_before)) and names.understand(text(norm[0])).metric == "grad_norm":
        return text(norm[0]), keyed, 1.0
    text_before = _AGGREGATE.sub(rb"\1 \2", text_before)
    qualifier = _QUALIFIER.search(text_before)
    factor = _CLOCKS.get(qualifier[1].strip().lower(), 1.0) if qualifier else 1.0
    text_before = text_before[: qualifier.start()] if qualifier else text_before
    tail = text_before
    for mark in _BOUNDARY.finditer(text_before):
        tail = text_before[mark.end() :]
    dropped = b""
    for sign in (b"=", b": ", b":"):
        head, separator, rest = tail.rpartition(sign)
        if separator and rest.strip() and not rest.startswith(b"/"):
            dropped, tail = head, rest
    words = [w.strip(b"'\"*>`#-") if w not in (b"-",) else b"" for w in _WORD.findall(tail)]
    words = [w for w in words if w and w.lower() not in _NOISE_WORDS]
    if (split := _SPLIT_WORD.search(dropped)) and not any(names.split_of(text(w)) for w in words):
        words = [split[1], *words[-3:]]
    return text(b" ".join(words[-4:])).strip(), keyed, factor


def _right_name(after: bytes, has_others: bool) -> str:
    """`576 tok/s`, `0.31 avg loss, 0.001 rate,`: a name that follows its number.

    A measurement is taken only where a separator closes the name: words between two numbers
    belong to the second.
    """
    after = b"s" + after[1:] if after.startswith(TIME_UNIT) else after
    ends = re.split(rb"[,;|\t\[\](){}\x01-\x04]", after, maxsplit=1)
    cut = ends[0].strip().split(b"  ")[0]
    if not cut or len(cut) > 24:
        return ""
    name = text(cut)
    meaning = names.understand(name)
    if not meaning.known:
        return ""
    if meaning.metric.endswith(("_s", "_bytes")):
        return name
    closed = after[len(ends[0]) : len(ends[0]) + 1] in (b",", b";", b"|") or (len(ends) == 1 and has_others)
    return name if closed and not names.split_of(name) else ""


def line_split(skeleton: bytes, slots: list[NumberSlot]) -> str:
    """The split that a line names apart from the names of its numbers: `[eval] iter 3: loss 0.2`.

    A line with a number of each of several splits, `train=0.3 valid=0.4`, is of none.
    """
    if len({names.split_of(slot.name) for slot in slots if slot.kind == "value"} - {""}) > 1:
        return ""
    words = [m[1].lower() for m in _SPLIT_WORD.finditer(_before_values(skeleton, slots))]
    if not words:
        for segment in re.split(rb"[|,]", skeleton)[:6]:
            if NUMBER not in segment:
                words += [m[1].lower() for m in _SPLIT_WORD.finditer(segment)]
    kinds = [names.split_of(text(f)) for f in words]
    for kind in ("val", "test", "train"):
        if kind in kinds:
            return kind
    return ""


def _before_values(skeleton: bytes, slots: list[NumberSlot]) -> bytes:
    """The text in front of the first number that is no counter, without that number's own name."""
    texts = skeleton.split(NUMBER)
    for i, slot in enumerate(slots):
        if names.split_of(slot.name) or counter_of(slot.name):
            continue
        if slot.kind == "value" and slot.name:
            first_word = slot.name.split(" ")[0].encode()
            cut = texts[i].rfind(first_word)
            return NUMBER.join([*texts[:i], texts[i][: cut if cut >= 0 else None]])
    return texts[0]


def counter_of(name: str) -> str:
    """The counter a name means, tried whole and then by its last words; '' when it is none."""
    if names.counter_rank(name) is not None:
        return name
    words = re.split(r"[\s]+", name.strip().strip("[]():#"))
    for size in range(len(words), 0, -1):
        tail = " ".join(words[-size:])
        if names.counter_rank(tail) is not None:
            return tail
    return ""
