"""Lines with their numbers, times and bars taken out; lines of equal skeleton have one shape."""

from __future__ import annotations

import re
from collections.abc import Set

NUMBER, STAMP, BAR, CLOCK, UNIT = b"\x01", b"\x02", b"\x03", b"\x04", b"\x05"

UNITS = (
    rb"(?:ms|us|ns|s|sec|secs|seconds|min|mins|m|h|hrs|th|st|nd|rd|k|K|M|G|T|B|b|KB|MB|GB|TB|KiB|MiB|GiB|kb|mb|gb|"
    rb"it|its|x|X|ep|e|epochs?|iter|iters|steps?|batch|tok|px|Hz|W|C|d)"
)
_NUMBER = re.compile(
    rb"(?:(?<![\w.@])(?<![A-Za-z]-)|(?<=[Ee]poch)|(?<=[Ss]tep)|(?<=[Ii]ter)|(?<=EPOCH)|(?<=STEP)|(?<=ITER)"
    # `E3 loss`, `[12:00] E3`, but not the date of glog's `E0314 12:00:00`; `ep3`.
    rb"|(?<=\nE)(?!\d{4} )|(?<=\] E)|(?<=\W[Ee]p)|(?<=\WEP))"
    rb"(?:(?<![\w.)\]])[-+])?"
    rb"(?>(?:\d{1,3}(?:,\d{3})+(?![\d,])(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?"
    rb"|(?<!of )(?<!no )(?<!any )(?i:nan|infinity|inf)(?:\.0)?)"
    rb"(?!\.?[\d_])(?=" + UNITS + rb"?(?![A-Za-z_]))"
)
_STAMP = re.compile(
    rb"(?<![\w.])(?:"
    rb"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?:[ T_]+\d{1,2}[:.]\d{2}[:.]\d{2}(?:[.,]\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"
    rb"|\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}[ ,T]+\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d+)?(?: ?[AaPp][Mm])?"
    rb"|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? +(?:[A-Z][a-z]{2} +\d+|\d+ +[A-Z][a-z]{2}),? +(?:\d{4} +)?"
    rb"\d{1,2}:\d{2}:\d{2}(?: +[A-Z]{3,4})?(?: +\d{4})?"
    rb"|\d{1,2}/\d{1,2} \d{1,2}:\d{2}:\d{2}(?:[.,]\d+)?"
    rb"|(?:\d+ days?,? *)?\d{1,3}:\d{2}(?::\d{2})?(?:[.,]\d+)?"
    rb")(?![\w:])"
)
_TQDM = re.compile(
    rb"\[[^\[\]<,\n]{0,24}<[^,\[\]\n]{0,24}(?:,[ ]*[^,=\[\]\n]{0,24}?(?:/s|s/|it)[A-Za-z/]{0,8})?(?=[,\]])"
)
_PERCENT_BAR = re.compile(rb"\d{1,3}%\|[^|\n]{0,2000}\|")
_DRAWN_BAR = re.compile(
    rb"\[[=>.\-#* ]{6,}\]"
    rb"|(?:\xe2\x94[\x80-\x8f]|\xe2\x95[\xb8-\xbf]|\xe2\x96[\x80-\x9f]){3,}"
    rb"[ ]*(?:\xe2\x94[\x80-\x8f]|\xe2\x95[\xb8-\xbf])*"
)
_TIME_UNIT = re.compile(rb"(?<=\x01) ?(?:ns|us|ms|s)(?![A-Za-z_])")
_TABS = re.compile(rb" ?[\t\x0b\x0c][ \t\x0b\x0c]*")
_BLANKS = re.compile(rb"  +")
_BEFORE = re.compile(rb"(?<=[^\w\s\x01-\x05])[ \t](?=\x01)")
_AFTER = re.compile(rb"(?<=\x01)[ \t](?=[^\w\s\x01-\x05])")


def skeletons(buffer: bytes) -> list[bytes]:
    """The skeleton of every line of a cleaned buffer."""
    out = _STAMP.sub(STAMP, buffer)
    if b"<" in out:
        out = _TQDM.sub(b"[" + CLOCK, out)
    out = _PERCENT_BAR.sub(BAR, out)
    out = _DRAWN_BAR.sub(BAR, out)
    out = _NUMBER.sub(NUMBER, out)
    out = _TIME_UNIT.sub(UNIT, out)
    out = _TABS.sub(b"\t", _BLANKS.sub(b" ", out))
    out = _AFTER.sub(b"", _BEFORE.sub(b"", out))
    return [line.strip() for line in out.split(b"\n")]


_PARTS = re.compile(rb"[\x01-\x05]|[ \t]+|[^\x01-\x05 \t]+")
# Atomic: what a number, stamp or bar took is not given back, so that no line is tried twice.
_CAPTURED = (
    rb"([-+]?(?>\d++(?:\.\d*+|(?:,\d{3})++(?![\d,])(?:\.\d+)?)?|\.\d++"
    rb"|[nN][aA][nN](?:\.0)?|[iI][nN][fF](?:inity|INITY)?(?:\.0)?)(?:[eE][-+]?\d++)?)"
)
_PASSED = b"(?:" + _CAPTURED[1:]
_PATTERNS = {
    STAMP: b"(?>" + _STAMP.pattern + b")",
    BAR: b"(?>" + _PERCENT_BAR.pattern + b"|" + _DRAWN_BAR.pattern + b")",
    CLOCK: b"(?>" + _TQDM.pattern.removeprefix(rb"\[") + b")",
}


def pattern(skeleton: bytes, slots: Set[int], units: Set[int] = frozenset()) -> re.Pattern[bytes]:
    """A pattern for lines of this skeleton that captures the wanted number slots.

    The time units behind the slots in `units` are captured after their number. The pattern starts
    at a newline so that the search runs from line to line, not from byte to byte.
    """
    out = [rb"\n[ \t]*"]
    slot = -1
    parts = _PARTS.findall(skeleton)
    for at, part in enumerate(parts):
        if part == NUMBER:
            slot += 1
            if at and _punctuation(parts[at - 1][-1:]):
                out.append(rb"[ \t]*")
            out.append(_CAPTURED if slot in slots else _PASSED)
            if at + 1 < len(parts) and _punctuation(parts[at + 1][:1]):
                out.append(rb"[ \t]*")
        elif part == UNIT:
            out.append(rb"[ \t]?([num]?s)" if slot in units else rb"[ \t]?[num]?s")
        elif part in _PATTERNS:
            out.append(_PATTERNS[part])
        elif part.isspace():
            out.append(rb"[ \t]+")
        else:
            out.append(re.escape(part))
    out.append(rb"[ \t]*(?=\n)")
    return re.compile(b"".join(out))


def _punctuation(char: bytes) -> bool:
    """Whether blanks next to the character come and go with the width of a number."""
    return not (char.isalnum() or char == b"_" or char in b" \t\x01\x02\x03\x04\x05")


def slot_count(skeleton: bytes) -> int:
    return skeleton.count(NUMBER)
