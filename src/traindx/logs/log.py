"""The output of a reader: one run as it was written, names unchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from traindx.core.nouns import Axis, Event, FloatArray, IntArray


@dataclass
class Column:
    """One metric as logged. Only points that were logged: a literal NaN is one, a gap is not.

    `split` is what the place says when the name does not (a folder `validation/`, a section);
    `axis` is set where the column counts otherwise than its log. `places` are offsets into the text of the
    values. `canonical` is the canonical name where the writer used it: nothing is guessed then.
    """

    name: str
    steps: FloatArray
    values: FloatArray
    times: FloatArray | None = None
    split: str | None = None
    derived: str | None = None
    axis: Axis | None = None
    places: IntArray | None = None
    canonical: str = ""


@dataclass
class Log:
    """One run as its writer laid it out; `phase` is what its script calls it where there are several."""

    columns: list[Column]
    axis: Axis = "step"
    config: dict[str, object] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    name: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    phase: str = ""
