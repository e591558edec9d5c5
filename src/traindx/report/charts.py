"""What a chart shows: terminals, pages, pictures and notebooks draw the same description."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from traindx.report.curves import drawable, moving_average, value_at

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray
    from traindx.report.grids import Grid
    from traindx.report.spreads import Spread

Smooth = tuple["FloatArray", "FloatArray", int]
Kind = Literal["onset", "span", "point", "lr", "best", "event", "upright", "broken", "zero"]
# The axis of runs whose own axes differ.
SHARE = "share of the run"
# Colours are roles of the page's style sheet, or `#rrggbb`.
CURVE_COLOURS = ("train", "val", "third", "lr")


@dataclass(frozen=True, eq=False)
class Line:
    """A curve. A noisy one is drawn faint (`raw`) under what `smoother` makes of it.

    What spreads around it lies between `low` and `high`; `amounts` are what to read off it, where that is not
    its height. `group` links it with rows of a table.
    """

    name: str
    x: FloatArray
    y: FloatArray
    colour: str = "train"
    smoother: Callable[[FloatArray, FloatArray], Smooth | None] | None = moving_average
    raw: bool = True
    dashed: bool = False
    group: int | None = None
    low: FloatArray | None = None
    high: FloatArray | None = None
    opacity: float = 0.17
    joined: bool = True
    amounts: FloatArray | None = None

    @cached_property
    def smooth(self) -> Smooth | None:
        return None if self.smoother is None else self.smoother(self.x, self.y)

    @property
    def shown(self) -> tuple[FloatArray, FloatArray]:
        return self.smooth[:2] if self.smooth is not None else (self.x, drawable(self.y))

    @property
    def broken(self) -> int:
        """How many values are NaN or Inf."""
        return int((~np.isfinite(self.y)).sum())


@dataclass(frozen=True)
class Mark:
    """A mark at a step of a curve, or on a stretch up to `end`, with its title and text.

    Steps are on the chart's axis. Without a `series` it concerns every panel; without a `height` it
    is at the bottom.
    """

    kind: Kind
    step: float
    title: str
    text: str = ""
    end: float | None = None
    series: str | None = None
    height: float | None = None
    colour: str = ""


@dataclass(frozen=True)
class HorizontalLine:
    """A value to compare with, drawn across the panel."""

    value: float
    label: str


@dataclass(frozen=True, eq=False)
class Shade:
    """The area between two curves."""

    x: FloatArray
    low: FloatArray
    high: FloatArray
    where: BoolArray
    colour: str
    label: str | None


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves on the same axes; `values` set the range of the y axis, all of them by default."""

    metric: str
    title: str
    lines: tuple[Line, ...]
    marks: tuple[Mark, ...] = ()
    logarithmic: bool = False
    held: FloatArray | None = None
    levels: tuple[HorizontalLine, ...] = ()
    shades: tuple[Shade, ...] = ()

    @property
    def names(self) -> set[str]:
        return {line.name for line in self.lines}

    @property
    def values(self) -> FloatArray:
        if self.held is not None:
            return self.held
        arrays = [
            array for line in self.lines for array in (line.y, line.low, line.high) if array is not None
        ]
        values = np.concatenate(arrays or [np.empty(0)])
        finite = drawable(values[np.isfinite(values)])
        return finite[finite > 0] if self.logarithmic else finite

    @property
    def broken(self) -> int:
        return sum(line.broken for line in self.lines)

    def height_of(self, mark: Mark) -> float:
        """The height of a mark on its curve; NaN when the curve has no value there."""
        if mark.series is None or not self.lines:
            return float("nan")
        line = next((candidate for candidate in self.lines if candidate.name == mark.series), self.lines[0])
        return value_at(line.x, line.y, mark.step) if line.x.size else float("nan")


@dataclass(frozen=True, eq=False)
class Curves:
    """Panels above each other on one axis. `label` describes them in words.

    With `names` the places 0, 1, 2, ... of the axis have names.
    """

    panels: tuple[Panel, ...]
    axis: str
    span: tuple[float, float]
    label: str = ""
    logarithmic: bool = False
    names: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Field:
    """Layers by samples as a coloured field; `kind` is `level` (logarithmic), `ratio` or `share`."""

    grid: Grid
    kind: Literal["level", "ratio", "share"]
    title: str
    axis: str
    label: str = ""


@dataclass(frozen=True, eq=False)
class HistogramChart:
    """One small histogram for each activation: the first sample as an outline, the last one filled."""

    counted: tuple[tuple[str, list[Spread]], ...]
    axis: str
    label: str = ""


@dataclass(frozen=True, eq=False)
class Ready:
    """A figure that only a page can show, as plain data of plotly."""

    figure: dict[str, Any] = field(default_factory=dict)
    label: str = ""


Drawing = Curves | Field | HistogramChart | Ready
