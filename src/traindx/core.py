"""The nouns of traindx: plain frozen data that every other module passes around."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    FloatArray = npt.NDArray[np.float64]
    BoolArray = npt.NDArray[np.bool_]
    IntArray = npt.NDArray[np.int64]

Axis = Literal["step", "epoch", "row"]
Goal = Literal["lower", "higher", "none"]
Scalar = str | int | float | bool | None


class Unreadable(Exception):
    """A file cannot be read; the message is one line for the user."""


@dataclass(frozen=True)
class Note:
    """Something about the input that the user should know: skipped, torn, superseded, odd."""

    path: str
    text: str


@dataclass(frozen=True)
class Event:
    """Something that happened at one moment of a run: an overflow, a resume, a crash."""

    kind: str
    text: str
    step: float | None = None


@dataclass(frozen=True, eq=False)
class Series:
    """One curve. `steps` never decreases; NaN and Inf in `values` are values the log held.

    `axis` says what its steps count: mostly the same for all curves of a run, but a log may count
    validation by epochs and training by steps.
    """

    name: str
    steps: FloatArray
    values: FloatArray
    source: str
    goal: Goal = "none"
    floor: float | None = None
    times: FloatArray | None = None
    derived: str | None = None
    axis: Axis = "step"

    def __len__(self) -> int:
        return int(self.values.size)


@dataclass(frozen=True, eq=False)
class Run:
    """One training as its logs tell it.

    `axis` is what most of its curves are counted by; `formats` are the readers that told it, the main
    one first.
    """

    name: str
    path: str
    formats: tuple[str, ...]
    axis: Axis
    series: Mapping[str, Series]
    config: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    settings: Mapping[str, Scalar] = field(default_factory=lambda: MappingProxyType({}))
    events: tuple[Event, ...] = ()
    traits: frozenset[str] = frozenset()
    notes: tuple[Note, ...] = ()
    files: tuple[str, ...] = ()

    @property
    def format(self) -> str:
        """The reader that told most of it."""
        return self.formats[0]

    @property
    def last_step(self) -> float | None:
        """The largest step any series reached."""
        ends = [float(s.steps[-1]) for s in self.series.values() if len(s)]
        return max(ends, default=None)

    @property
    def points(self) -> int:
        return sum(len(s) for s in self.series.values())


@dataclass(frozen=True)
class Reading:
    """What a search for runs gave: the runs, and what was passed over and why."""

    runs: tuple[Run, ...]
    skipped: tuple[Note, ...]
