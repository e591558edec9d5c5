"""Charts as PNGs: the pictures of every report are drawn here, from the same descriptions as the pages."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import (
    EngFormatter,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    PercentFormatter,
)

from traindx.report.charts import SHARE, Curves, Drawing, Line, Mark, Panel
from traindx.report.curves import broken_steps, drawable, limits, thinned
from traindx.report.grids import labelled_places, layer_names
from traindx.report.text import count, short, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from traindx.core.nouns import FloatArray

_COLOURS = {
    "train": "#2a6fbb",
    "val": "#d9731a",
    "third": "#3a9a5c",
    "lr": "#8a5fb5",
    "alarm": "#c8232c",
    "good": "#1b7a47",
    "muted": "#666666",
    "rest": "#b8bec4",
    "ink": "#222222",
}
_FEW = 40
_LABELS_ALONG, _LETTERS_ALONG = 42, 90
_FEW_DECADES = 300.0
_NAME_LONGEST, _TITLE_LONGEST, _LABEL_LONGEST = 80, 110, 60
_MARKS: dict[str, dict[str, Any]] = {
    "best": {"marker": "*", "color": _COLOURS["good"], "markersize": 12, "markeredgewidth": 0},
    "lr": {"marker": "D", "color": _COLOURS["lr"], "markersize": 5},
    "point": {
        "marker": "o",
        "color": _COLOURS["alarm"],
        "markersize": 8,
        "markerfacecolor": "none",
        "markeredgewidth": 1.6,
    },
}
_STYLE: Any = {
    "text.parse_math": False,  # names in logs are not formulas
    "font.size": 9.0,
    "axes.edgecolor": "#999999",
    "axes.titlesize": 10.0,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "axes.formatter.useoffset": False,
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "legend.fontsize": 8.0,
}


@dataclass(frozen=True)
class Picture:
    """Charts on one sheet with `columns` in a row; `heights` are the heights of the rows in inches.

    The key is below all of them or inside each; `foot` replaces a key.
    """

    title: str
    charts: tuple[Drawing, ...]
    subtitle: str = ""
    heights: tuple[float, ...] = ()
    columns: int = 1
    width: float = 9.6
    key: Literal["below", "inside", "none"] = "below"
    foot: str = ""
    empty: tuple[str, ...] = ()


def write_picture(picture: Picture, path: Path) -> None:
    with rc_context(_STYLE), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # letters the font lacks, scales without room
        figure = drawn(picture)
        FigureCanvasAgg(figure)
        figure.savefig(path, format="png")


def drawn(picture: Picture) -> Figure:
    """The picture as a figure of matplotlib."""
    from traindx.report.to_png_inside import draw_inside, height_of

    cells: list[tuple[Drawing, Panel | None]] = []
    for chart in picture.charts:
        cells += [(chart, panel) for panel in chart.panels] if isinstance(chart, Curves) else [(chart, None)]
    rows = -(-(len(cells) + len(picture.empty)) // picture.columns) or 1
    heights = picture.heights or tuple(height_of(chart) for chart, _ in cells)
    heights = (heights * rows)[:rows] if len(heights) != rows else heights
    height = sum(heights) + 0.9 + 0.62 * (rows - 1) * (picture.columns == 1)
    figure = Figure(figsize=(picture.width, height), dpi=120, layout="constrained")
    _head(figure, picture, height)
    grid = figure.add_gridspec(rows, picture.columns, height_ratios=list(heights))
    key: dict[str, Any] = {}
    first: Axes | None = None
    for number, (chart, panel) in enumerate(cells):
        place = grid[divmod(number, picture.columns)]
        if panel is None or not isinstance(chart, Curves):
            key |= draw_inside(figure, place, chart, heights[number // picture.columns])
            continue
        shared = picture.columns == 1 and first is not None and len(chart.panels) > 1
        axes = figure.add_subplot(place, sharex=first if shared else None)
        first = first or axes
        _panel(axes, panel)
        _step_axis(axes, chart, is_named=picture.columns > 1 or panel is chart.panels[-1])
        handles = dict(zip(*reversed(axes.get_legend_handles_labels()), strict=True))
        if picture.key == "inside" and handles:
            axes.legend(handles.values(), handles.keys(), loc="best")
        key |= handles
    for number, text in enumerate(picture.empty, len(cells)):
        _empty(figure.add_subplot(grid[divmod(number, picture.columns)]), text)
    if picture.key == "below" and key:
        figure.legend(key.values(), key.keys(), loc="outside lower left", ncols=4)
    elif picture.foot:
        figure.text(0.01, 0.0, visible(picture.foot, 120), fontsize=8, color=_COLOURS["muted"])
    return figure


def _head(figure: Figure, picture: Picture, height: float) -> None:
    """The title with the subtitle below it; the empty second line reserves its space."""
    title = (
        picture.title if len(picture.title) <= _TITLE_LONGEST else "…" + picture.title[1 - _TITLE_LONGEST :]
    )
    below = "\n" if picture.subtitle else ""
    figure.suptitle(visible(title, _TITLE_LONGEST) + below, x=0.01, ha="left", fontsize=11, fontweight="bold")
    if picture.subtitle:
        looks: dict[str, Any] = {"fontsize": 9, "color": _COLOURS["muted"], "va": "top", "in_layout": False}
        figure.text(0.01, 1 - 0.27 / height, visible(picture.subtitle, 150), **looks)


def _empty(axes: Axes, text: str) -> None:
    """A note in place of a panel that was not logged."""
    axes.set_axis_off()
    looks: Any = {"ha": "center", "va": "center", "fontsize": 9, "color": _COLOURS["muted"]}
    axes.text(0.5, 0.5, text, transform=axes.transAxes, **looks)


def hue(colour: str) -> str:
    return colour if colour.startswith("#") else _COLOURS[colour]


def _panel(axes: Axes, panel: Panel) -> None:
    labels = set[str]()

    def once(label: str) -> str | None:
        """The label the first time it is used on a panel."""
        fresh = label not in labels
        labels.add(label)
        return visible(label, _LABEL_LONGEST) if fresh else None

    for line in panel.lines:
        _line(axes, line, once(line.name))
    if panel.broken and all(line.group is None for line in panel.lines):
        label = f"{count(panel.broken, 'value')} NaN or Inf"
        axes.plot([], [], "x", color=_COLOURS["alarm"], markersize=5, label=label)
    for mark in panel.marks:
        _mark(axes, mark, once)
    for level in panel.levels:
        axes.axhline(
            level.value, color=_COLOURS["muted"], linewidth=1.1, linestyle="-.", label=once(level.label)
        )
    for shade in panel.shades:
        looks: Any = {"alpha": 0.14, "linewidth": 0, "interpolate": True, "color": hue(shade.colour)}
        axes.fill_between(shade.x, shade.low, shade.high, where=shade.where, label=shade.label, **looks)
    axes.set_title(visible(panel.title, 60))
    set_scale(axes, panel.values, logarithmic=panel.logarithmic)


def _line(axes: Axes, line: Line, label: str | None) -> None:
    """The finite part as a line, faint under its average; where it is not finite, red marks at the bottom."""
    colour, dash = hue(line.colour), "--" if line.dashed else "-"
    is_short = int(np.isfinite(line.y).sum()) <= _FEW
    dots: dict[str, Any] = {"marker": "o", "markersize": 3} if is_short and line.smooth is None else {}
    if line.low is not None and line.high is not None:
        axes.fill_between(line.x, line.low, line.high, color=colour, alpha=line.opacity, linewidth=0)
        axes.plot(line.x, drawable(line.y), dash, color=colour, linewidth=1.8, label=label, **dots)
    elif not line.joined:
        axes.plot(line.x, drawable(line.y), ".", color=colour, markersize=3, alpha=0.55)
    elif line.smooth is None:
        axes.plot(*_points(line.x, line.y), dash, color=colour, linewidth=1.3, label=label, **dots)
    else:
        if line.raw:
            axes.plot(*_points(line.x, line.y), color=colour, linewidth=0.8, alpha=0.35)
        window = f", moving average of {count(line.smooth[2], 'point')}" if line.group is None else ""
        text = None if label is None else f"{label}{window}"
        axes.plot(*_points(*line.smooth[:2]), dash, color=colour, linewidth=1.9, label=text)
    broken = broken_steps(line.x, line.y, 200 if line.group is None else 3)
    if broken.size:
        foot: Any = {"transform": axes.get_xaxis_transform(), "markersize": 5, "clip_on": False}
        axes.plot(broken, np.full(broken.size, 0.035), "x", color=_COLOURS["alarm"], **foot)


def _points(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    x, y = thinned(x, y)
    return x, drawable(y)


def _mark(axes: Axes, mark: Mark, once: Any) -> None:
    colour = hue(mark.colour or "alarm")
    if mark.kind in ("onset", "upright"):
        style = "--" if mark.kind == "onset" else ":"
        axes.axvline(mark.step, color=colour, linewidth=1.2, linestyle=style, label=once(mark.title))
    elif mark.kind == "span" and mark.end is not None:
        shade = hue(mark.colour or "val")
        axes.axvspan(mark.step, mark.end, color=shade, alpha=0.12, linewidth=0, label=once(mark.title))
    elif mark.kind in ("broken", "zero"):
        symbol, shade = ("x", "alarm") if mark.kind == "broken" else ("v", "muted")
        foot: Any = {"transform": axes.get_xaxis_transform(), "markersize": 5, "clip_on": False}
        axes.plot([mark.step], [0.03], symbol, color=_COLOURS[shade], label=once(mark.title), **foot)
    elif mark.height is not None:
        looks = _MARKS.get(mark.kind, _MARKS["point"])
        axes.plot([mark.step], [mark.height], linestyle="", label=once(mark.title), zorder=5, **looks)


def file_name(run: str, names: set[str], ending: str = "") -> str:
    """A name made of letters, digits, dots and dashes, from the end of the run's path."""
    tail = re.sub(r"[^A-Za-z0-9._-]+", "-", run.replace("\\", "/")).strip("-.")
    if len(tail) > _NAME_LONGEST:
        tail = tail[-_NAME_LONGEST:]
        tail = tail[tail.find("-", 0, _NAME_LONGEST // 2) + 1 :]  # whole words, where there are any
    tail = tail.lstrip("-.") or "run"
    name, number = f"{tail}{ending}", 2
    while name.lower() in names:
        name, number = f"{tail}-{number}{ending}", number + 1
    names.add(name.lower())
    return f"{name}.png"


def set_scale(axes: Axes, values: FloatArray, *, logarithmic: bool) -> None:
    """Limits with room above and below `values`; without two different ones the axis chooses."""
    if logarithmic:
        axes.set_yscale("log")
        if values.size and values.max() < _FEW_DECADES * values.min():
            axes.yaxis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    ends = limits(values, logarithmic=logarithmic)
    if ends is not None:
        axes.set_ylim(*ends)


def _step_axis(axes: Axes, chart: Curves, *, is_named: bool) -> None:
    first, last = chart.span
    if chart.names:
        at = labelled_places(len(chart.names), _LABELS_ALONG)
        names = layer_names(chart.names, 26)
        wide = max((len(names[place]) for place in at), default=0) * at.size > _LETTERS_ALONG
        axes.set_xlim(first, last)
        axes.set_xticks(at, [names[place] for place in at], rotation=90 if wide else 0)
    elif chart.logarithmic:
        axes.set_xscale("log")
        axes.set_xlim(first, last)
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.xaxis.set_minor_formatter(NullFormatter())
    else:
        room = 0.02 * (last - first) or 0.5
        axes.set_xlim(first - room, last + room)
        axes.xaxis.set_major_locator(MaxNLocator(5))
        share = chart.axis == SHARE
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0) if share else EngFormatter(sep=""))
    if is_named and not chart.names:
        axes.set_xlabel(visible(chart.axis, 110), fontsize=8, color=_COLOURS["muted"])
    axes.tick_params(labelsize=8, color="#999999")
