"""What a reference run says about a cause: the setting behind it differs the way it must, or is the same."""

from __future__ import annotations

import math
from dataclasses import dataclass

from traindx.comparison.differing import compared_value, shown
from traindx.comparison.script_diff import CodeDifference
from traindx.comparison.subjects import Subject
from traindx.core.nouns import Hypothesis
from traindx.knowledge.catalogue import causes

_WAYS = {"more": 1, "less": -1, "other": 0}
_CLEAR = 1.5
_SAME_BITS, _OPPOSITE_BITS, _OTHER_BITS = -2.0, -2.5, 1.5
_MOST_BITS = 3.0
_LINE_BITS = 1.5


@dataclass(frozen=True)
class Bearing:
    """A sentence with its numbers, and its weight for (or against) a cause in bits."""

    text: str
    bits: float


def bearings(cause: Hypothesis, bad: Subject, good: Subject, code: CodeDifference | None) -> list[Bearing]:
    """What the reference says about one cause; nothing where it cannot say."""
    evidence = [*_settings(cause.cause, bad, good), *_line(cause, bad, code)]
    return sorted(evidence, key=lambda one: -abs(one.bits))


def _settings(cause: str, bad: Subject, good: Subject) -> list[Bearing]:
    """Of several settings behind a cause those that differ speak; only when none does, the same ones."""
    evidence: list[Bearing] = []
    same: list[str] = []
    for key, way in causes()[cause].settings.items() if cause in causes() else ():
        bad_value, good_value = bad.settings.get(key), good.settings.get(key)
        if bad_value is None or good_value is None:
            continue
        if compared_value(bad_value) == compared_value(good_value):
            same.append(f"{key} {shown(bad_value)}")
            continue
        bits = _bits(bad.number(key), good.number(key), _WAYS[way])
        if bits:
            evidence.append(
                Bearing(f"{key} is {shown(bad_value)}; the baseline trained with {shown(good_value)}", bits)
            )
    if evidence:
        return evidence[:1]
    if same:
        return [Bearing(f"{', '.join(same)} is the same in the baseline, which trained well", _SAME_BITS)]
    return []


def _bits(bad_value: float | None, good_value: float | None, wants: int) -> float:
    """The further from the baseline in the direction the cause needs, the more it says."""
    if bad_value is None or good_value is None or wants == 0:
        return _OTHER_BITS
    if min(bad_value, good_value) <= 0:
        return _OTHER_BITS if (bad_value - good_value) * wants > 0 else _OPPOSITE_BITS
    ratio = (bad_value / good_value) ** wants
    if ratio >= _CLEAR:
        return min(_MOST_BITS, 1.0 + 0.5 * math.log2(ratio))
    return _OPPOSITE_BITS if ratio <= 1 / _CLEAR else 0.0


def _line(cause: Hypothesis, bad: Subject, code: CodeDifference | None) -> list[Bearing]:
    """Whether the line a cause is laid to is one in which the scripts differ."""
    place = cause.place
    if code is None or code.note or place is None or place.line is None or not place.file:
        return []
    script = bad.run.facts.get("script")
    path = script.get("path") if isinstance(script, dict) else None
    if not isinstance(path, str) or path.rsplit("/", 1)[-1] != place.file.rsplit("/", 1)[-1]:
        return []
    if place.line in code.changed:
        return [
            Bearing(f"line {place.line} is one in which the script differs from the baseline's", _LINE_BITS)
        ]
    # An unchanged line says nothing: the place of a cause may be where it shows, not where it is.
    return []
