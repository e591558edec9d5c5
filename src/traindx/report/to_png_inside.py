"""The inside of a training in pictures: layers by samples, layers in a row, histograms, parts of a step."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LinearSegmentedColormap, ListedColormap, LogNorm, Normalize
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, MaxNLocator, NullLocator

from traindx.report.charts import Drawing, Field, HistogramChart
from traindx.report.grids import labelled_places, layer_names
from traindx.report.inside import USUAL
from traindx.report.text import short
from traindx.report.to_png import hue

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import SubplotSpec

    from traindx.core.nouns import FloatArray

# Pale where it is usual, blue where weights hardly move, red where they are thrown about.
_RATIO = ("#1d3f7a", "#5b92cc", "#c3e2da", "#e9f5e1", "#f3e7b0", "#e2834a", "#8f1a1a")
_RATIO_PLACES = (0.0, 0.25, 3 / 7, 4 / 7, 5 / 7, 0.86, 1.0)
_RATIO_ENDS = (1e-7, 1.0)
_LEVEL = ("#20134a", "#4b3f94", "#3a83a8", "#5fbf8f", "#f4f3b2")
_SHARE = ("#f3f5f7", "#bcd3e6", "#e9b16a", "#d3592f", "#7d1416")
_ZERO, _BROKEN = "#9aa0a6", "#d81b82"
_HEIGHT_OF_ROW, _LEAST, _MOST, _SHARE_MOST = 0.17, 0.9, 6.2, 3.4
_LABELS_PER_INCH = 6.2
_BESIDE = 4
_DECADES_MOST = 12.0
_GREY = "#666666"


def height_of(drawing: Drawing) -> float:
    """Inches that a chart takes."""
    match drawing:
        case Field():
            highest = _SHARE_MOST if drawing.kind == "share" else _MOST
            return min(max(_HEIGHT_OF_ROW * len(drawing.grid.layers), _LEAST), highest)
        case HistogramChart():
            return 1.15 * -(-len(drawing.counted) // _BESIDE) + 0.2
    return 3.1


def draw_inside(figure: Figure, place: SubplotSpec, drawing: Drawing, height: float) -> dict[str, Any]:
    """Draw it there; gives what belongs into the key."""
    if isinstance(drawing, HistogramChart):
        _histograms(figure, place, drawing)
        return {}
    if not isinstance(drawing, Field):
        return {}
    return _field(figure, figure.add_subplot(place), drawing, height)


def _field(figure: Figure, axes: Axes, drawing: Field, height: float) -> dict[str, Any]:
    grid, logarithmic = drawing.grid, drawing.kind != "share"
    ends = {"ratio": _RATIO_ENDS, "share": (0.0, 1.0)}.get(drawing.kind) or _level_ends(grid.seen)
    norm: Normalize = LogNorm(*ends, clip=True) if logarithmic else Normalize(*ends, clip=True)
    shades = {"ratio": list(zip(_RATIO_PLACES, _RATIO, strict=True)), "share": _SHARE}.get(
        drawing.kind, _LEVEL
    )
    colours = LinearSegmentedColormap.from_list("field", shades)
    colours.set_bad((0, 0, 0, 0))
    zero = (grid.values <= 0) & logarithmic
    looks: dict[str, Any] = {"aspect": "auto", "interpolation": "nearest", "origin": "upper"}
    positive = np.ma.masked_invalid(np.where(zero, np.nan, grid.values))
    image = axes.imshow(positive, cmap=colours, norm=norm, **looks)
    key: dict[str, Any] = {}
    for where, colour, name in ((zero, _ZERO, "exactly 0"), (grid.broken, _BROKEN, "NaN or Inf")):
        if where.any():
            axes.imshow(
                np.ma.masked_where(~where, np.ones(where.shape)), cmap=ListedColormap([colour]), **looks
            )
            key[name] = Patch(color=colour, label=name)
    axes.set_title(drawing.title)
    axes.grid(visible=False)
    _field_labels(axes, drawing, height)
    bar = figure.colorbar(image, ax=axes, pad=0.012, fraction=0.05, aspect=height / 0.17)
    bar.ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    bar.ax.yaxis.set_minor_locator(NullLocator())
    bar.ax.tick_params(labelsize=7.5)
    bar.outline.set_visible(False)
    for edge in USUAL if drawing.kind == "ratio" else ():
        bar.ax.axhline(edge, color="#1b7a47", linewidth=1.4)
    return key


def _field_labels(axes: Axes, drawing: Field, height: float) -> None:
    """Some of the layers by name. Each column is one sample: they are not evenly spaced in time."""
    grid = drawing.grid
    rows = labelled_places(len(grid.layers), max(2, int(_LABELS_PER_INCH * height)))
    names = layer_names(grid.layers)
    axes.set_yticks(rows, [names[at] for at in rows], fontsize=7.5)
    axes.tick_params(axis="y", length=2, pad=2)
    columns = labelled_places(grid.steps.size, 11)
    axes.set_xticks(columns, [short(float(grid.steps[at])) for at in columns], fontsize=8)
    axes.set_xlabel(f"{drawing.axis} of the sample", fontsize=8, color=_GREY)


def _level_ends(values: FloatArray) -> tuple[float, float]:
    """The range of the positive values, limited to a number of decades below the largest."""
    positive = values[values > 0]
    if not positive.size:
        return 0.1, 10.0
    low, high = float(positive.min()), float(positive.max())
    low = max(low, high * 10**-_DECADES_MOST)
    if high < 10 * low:
        middle = math.sqrt(low) * math.sqrt(high)
        low, high = middle / math.sqrt(10), middle * math.sqrt(10)
    return low, high


def _histograms(figure: Figure, place: SubplotSpec, drawing: HistogramChart) -> None:
    """The first sample as an outline, the last filled; heights are the root, for zeros outdo the rest."""
    across = min(len(drawing.counted), _BESIDE)
    places = place.subgridspec(-(-len(drawing.counted) // across), across)
    names = layer_names([name for name, _ in drawing.counted], 24)
    for number, (name, (_, samples)) in enumerate(zip(names, drawing.counted, strict=True)):
        axes = figure.add_subplot(places[divmod(number, across)])
        for spread, colour in zip(samples, ("third", "val")[-len(samples) :], strict=True):
            bars: Any = {"fill": True, "alpha": 0.55} if spread is samples[-1] else {"linewidth": 1.3}
            axes.stairs(np.sqrt(spread.shares), spread.edges, color=hue(colour), **bars)
        first, last = samples[0].step, samples[-1].step
        when = short(first) if first == last else f"{short(first)} → {short(last)}"
        axes.set_title(f"{name}  {drawing.axis} {when}", fontsize=7.5, fontweight="normal")
        if bad := max(spread.nonfinite for spread in samples):
            looks: Any = {"color": hue("alarm"), "fontsize": 8, "ha": "center", "transform": axes.transAxes}
            axes.text(0.5, 0.5, f"{100 * bad:.0f} % NaN or Inf", **looks)
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="x", labelsize=7, length=2)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(lambda value, _: short(value))
