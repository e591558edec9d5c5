"""Charts as plain data that plotly.js draws on a page. Colours are names of the page's CSS variables.

Text from logs goes through `chart_text`: plotly reads a small HTML of its own.
"""

from __future__ import annotations

import html
import math
import textwrap
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.report.charts import Curves, Drawing, Line, Ready
from traindx.report.curves import POINTS_MOST, drawable, thinned
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

Json = dict[str, Any]
FEW = 60
_HOVER_WIDTH = 54
_POINTS_IN_ALL, _POINTS_LEAST = 160_000, 120


@dataclass(frozen=True)
class Key:
    """One line of the key of a chart: `sign` is its symbol."""

    name: str
    sign: str
    colour: str
    group: int | None = None


@dataclass(frozen=True)
class Held:
    """What a page needs to make room for a chart."""

    number: int
    height: int
    key: tuple[Key, ...]


class FigureStore:
    """The charts of a section; curves that several charts show are stored once."""

    def __init__(self, limit: int = POINTS_MOST) -> None:
        self.limit = self._points_most = limit
        self.curves: list[Json] = []
        self.figures: list[Json] = []
        self._points: dict[tuple[str, int], tuple[int, int | None, Line]] = {}

    def json(self) -> Json:
        return {"curves": self.curves, "charts": self.figures}

    def add(self, drawing: Drawing) -> Held:
        if isinstance(drawing, Curves):
            lines = sum(len(panel.lines) for panel in drawing.panels)
            self._points_most = max(_POINTS_LEAST, min(self.limit, _POINTS_IN_ALL // max(lines, 1)))
            from traindx.report.to_plotly_curves import Figure

            figure, key = Figure(self, drawing).made()
        elif isinstance(drawing, Ready):
            figure, key = drawing.figure, ()
        else:
            from traindx.report.to_plotly_inside import inside_figure

            figure, key = inside_figure(drawing)
        self.figures.append(figure)
        return Held(len(self.figures) - 1, int(figure["layout"]["height"]), key)

    def hold(self, line: Line) -> tuple[int, int | None]:
        """The indices of the points of a curve and of its smoothed form, thinned once."""
        name = (line.name, id(line.y))
        if name not in self._points:
            is_short = int(np.isfinite(line.y).sum()) <= FEW
            smoothed = None if is_short else line.smooth
            points = self.points(line.x, line.y) if smoothed is None or line.raw else -1
            smooth = None if smoothed is None else self.points(*smoothed[:2])
            self._points[name] = (points, smooth, line)  # the line keeps its id
        return self._points[name][:2]

    def points(self, x: FloatArray, y: FloatArray) -> int:
        x, y = thinned(x, y, self._points_most)
        self.curves.append({"x": numbers(x), "y": numbers(drawable(y))})
        return len(self.curves) - 1


def css(colour: str) -> str:
    return colour if colour.startswith("#") else f"var(--{colour})"


def numbers(values: FloatArray) -> list[float | int | None]:
    """Six digits are more than a screen shows; what is not finite is left out."""
    rounded_values = [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.tolist()]
    return [int(v) if v is not None and abs(v) < 1e6 and v == int(v) else v for v in rounded_values]


def chart_text(text: str, *, wrap: bool = False) -> str:
    """Text that plotly shows as it is; long text in lines."""
    lines = textwrap.wrap(visible(text, 600), _HOVER_WIDTH) if wrap else [visible(text, 60)]
    return "<br>".join(html.escape(line, quote=False).replace("%{", "%&#123;") for line in lines)


def plain_layout(height: int, left: int = 64, below: int = 44) -> Json:
    """The layout of a chart without panels: its height and the room left of it and below."""
    return {
        "height": height + 12 + below,
        "margin": {"l": left, "r": 12, "t": 12, "b": below},
        "annotations": [],
        "plain": True,
    }
