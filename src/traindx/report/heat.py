"""Tables of layers by looks as coloured fields: what was not looked at is blank, what is broken is red."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, LogNorm, Normalize
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, NullLocator

from traindx.report.grids import Grid, labelled_places, layer_names
from traindx.report.text import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from traindx.core.nouns import FloatArray

USUAL = (1e-4, 1e-2)  # the change of a step over the size of the weights in most trainings that go well
RATIO_ENDS = (1e-7, 1.0)
# Pale where it is usual, blue where weights hardly move, red where they are thrown about.
RATIO_COLOURS = (
    (0.0, "#1d3f7a"),
    (0.25, "#5b92cc"),
    (3 / 7, "#c3e2da"),
    (4 / 7, "#e9f5e1"),
    (5 / 7, "#f3e7b0"),
    (0.86, "#e2834a"),
    (1.0, "#8f1a1a"),
)
LEVEL_COLOURS = ((0.0, "#20134a"), (0.25, "#4b3f94"), (0.5, "#3a83a8"), (0.75, "#5fbf8f"), (1.0, "#f4f3b2"))
SHARE_COLOURS = ((0.0, "#f3f5f7"), (0.3, "#bcd3e6"), (0.6, "#e9b16a"), (0.85, "#d3592f"), (1.0, "#7d1416"))
ZERO, BROKEN = "#9aa0a6", "#d81b82"
_HEIGHT_OF_ROW, _LEAST, _MOST = 0.17, 0.9, 6.2
_LABELS_PER_INCH = 6.2
_BAR = 0.17
_DECADES_MOST = 12.0


@dataclass(frozen=True)
class Scale:
    """How values become colours."""

    colours: tuple[tuple[float, str], ...]
    ends: tuple[float, float]
    logarithmic: bool
    usual: tuple[float, float] | None = None


def level_scale(values: FloatArray) -> Scale:
    """Logarithmic over what is there, at most so many decades below the largest."""
    positive = values[values > 0]
    if not positive.size:
        return Scale(LEVEL_COLOURS, (0.1, 10.0), True)
    low, high = float(positive.min()), float(positive.max())
    low = max(low, high * 10**-_DECADES_MOST)
    if high < 10 * low:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = middle / math.sqrt(10), middle * math.sqrt(10)
    return Scale(LEVEL_COLOURS, (low, high), True)


def share_scale() -> Scale:
    return Scale(SHARE_COLOURS, (0.0, 1.0), False)


def ratio_scale() -> Scale:
    """The same for all runs, so that pictures can be held against each other."""
    return Scale(RATIO_COLOURS, RATIO_ENDS, True, USUAL)


def height_of(rows: int, most: float = _MOST) -> float:
    """Inches that a field of so many rows takes."""
    return min(max(_HEIGHT_OF_ROW * rows, _LEAST), most)


def draw_field(axes: Axes, grid: Grid, scale: Scale, title: str, axis: str, height: float) -> list[Patch]:
    """The field with its colour bar, so many inches high; gives the key of colours that mean no number."""
    figure = axes.get_figure()
    assert figure is not None
    norm: Normalize = (
        LogNorm(*scale.ends, clip=True) if scale.logarithmic else Normalize(*scale.ends, clip=True)
    )
    colours = LinearSegmentedColormap.from_list("field", list(scale.colours))
    colours.set_bad((0, 0, 0, 0))
    zero = (grid.values <= 0) & scale.logarithmic
    shown = np.where(zero, np.nan, grid.values)
    looks: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest", "origin": "upper"}
    image = axes.imshow(np.ma.masked_invalid(shown), cmap=colours, norm=norm, **looks)
    key = []
    for where, colour, name in ((zero, ZERO, "exactly 0"), (grid.broken, BROKEN, "NaN or Inf")):
        if where.any():
            over = np.ma.masked_where(~where, np.ones(where.shape))
            axes.imshow(over, cmap=ListedColormap([colour]), **looks)
            key.append(Patch(color=colour, label=name))
    axes.set_title(title)
    axes.grid(visible=False)
    _label_layers(axes, grid, height)
    _label_looks(axes, grid, axis)
    bar = figure.colorbar(image, ax=axes, pad=0.012, fraction=0.05, aspect=height / _BAR)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(labelsize=7.5)
    bar.outline.set_visible(False)
    if scale.usual is not None:
        for edge in scale.usual:
            bar.ax.axhline(edge, color="#1b7a47", linewidth=1.4)
    return key


def _label_layers(axes: Axes, grid: Grid, height: float) -> None:
    most = max(2, int(_LABELS_PER_INCH * height))
    places = labelled_places(len(grid.layers), most)
    names = layer_names(grid.layers)
    axes.set_yticks(places, [names[at] for at in places], fontsize=7.5)
    axes.tick_params(axis="y", length=2, pad=2)


def _label_looks(axes: Axes, grid: Grid, axis: str) -> None:
    """Each column is one look: they are not evenly spaced in time."""
    places = labelled_places(grid.steps.size, 11)
    axes.set_xticks(places, [short(float(grid.steps[at])) for at in places], fontsize=8)
    axes.set_xlabel(f"{axis} of the look", fontsize=8, color="#666666")
