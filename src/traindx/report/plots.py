"""The main curves of a run as one PNG: small multiples, train and validation together."""

from __future__ import annotations

import itertools
import re
import warnings
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import EngFormatter, FuncFormatter, MaxNLocator, NullFormatter

from traindx.core import Run, Series
from traindx.names import parts
from traindx.report.text import count, short, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from traindx.core import BoolArray, FloatArray

_PANELS_MOST = 9
_POINTS_MOST = 3000
_LOG_FROM = 50.0
_LARGEST = 1e150
_COLOURS = ("#2a6fbb", "#e0812b", "#3a9a5c", "#8a5fb5")
_ALARM = "#c8232c"
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
    "grid.color": "#e4e4e4",
    "legend.frameon": False,
    "legend.fontsize": 8.0,
}


def write_plots(runs: Iterable[Run], folder: Path) -> list[Path]:
    """One PNG per run; gives the paths written."""
    written: list[Path] = []
    taken = set[str]()
    for run in runs:
        name = _file_name(run.name, taken)
        with rc_context(_STYLE), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # letters the font lacks, scales without room
            figure = _figure(run)
            FigureCanvasAgg(figure)
            figure.savefig(folder / name, format="png")
        written.append(folder / name)
    return written


def _file_name(run: str, taken: set[str]) -> str:
    """A name made of letters, digits, dots and dashes, from the end of the run's path."""
    tail = re.sub(r"[^A-Za-z0-9._-]+", "-", run.replace("\\", "/")).strip("-.")[-80:].lstrip("-.") or "run"
    name, number = tail, 2
    while name.lower() in taken:
        name, number = f"{tail}-{number}", number + 1
    taken.add(name.lower())
    return f"{name}.png"


def _figure(run: Run) -> Figure:
    panels = _panels(run)[:_PANELS_MOST]
    columns = min(len(panels), 3 if len(panels) > 4 else 2) or 1
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.4 * columns, 2.7 * rows + 0.5), dpi=120, layout="constrained")
    figure.suptitle(visible(run.name, 48 * columns), x=0.01, ha="left", fontsize=11, fontweight="bold")
    for number, panel in enumerate(panels):
        _draw(figure.add_subplot(rows, columns, number + 1), panel, run)
    return figure


def _panels(run: Run) -> list[list[Series]]:
    """Curves of one metric share a panel; the run's own order says which come first."""
    panels: dict[str, list[Series]] = {}
    for series in run.series.values():
        if len(series) > 1 or len(run.series) == 1:
            panels.setdefault(_metric(series.name), []).append(series)
    if not panels:
        panels = {name: [series] for name, series in run.series.items() if len(series)}
    return [members[: len(_COLOURS)] for members in panels.values()]


def _metric(name: str) -> str:
    told = parts(name)
    return "/".join(word for word in (told.metric, told.part) if word)


def _draw(axes: Axes, panel: Sequence[Series], run: Run) -> None:
    logarithmic = _wants_log(panel)
    low, high = _shared_limits(panel, logarithmic)
    for series, colour in zip(panel, _COLOURS, strict=False):
        _draw_curve(axes, series, colour)
    axes.set_title(visible(_metric(panel[0].name), 44))
    if logarithmic:
        axes.set_yscale("log")
        axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
        axes.yaxis.set_minor_formatter(NullFormatter())
    if low < high:
        axes.set_ylim(low, high)
    axes.set_xlim(*_step_limits(run))
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.set_xlabel(run.axis, fontsize=8, color="#666666")
    axes.tick_params(labelsize=8, color="#999999")
    handles = _legend(panel)
    if handles:
        axes.legend(handles=handles, loc="best")


def _draw_curve(axes: Axes, series: Series, colour: str) -> None:
    """The finite part as a line; where it is not finite, red marks along the bottom."""
    steps, values = _thinned(series.steps, series.values)
    finite = np.isfinite(values)
    few = int(finite.sum()) <= 40
    axes.plot(
        steps,
        np.where(finite, _drawable(values), np.nan),
        color=colour,
        linewidth=1.3,
        marker="o" if few else None,
        markersize=3,
    )
    if not finite.all():
        gone = series.steps[~np.isfinite(series.values)]
        places = np.unique(np.linspace(0, gone.size - 1, min(gone.size, 200)).astype(int))
        bottom = axes.get_xaxis_transform()
        axes.plot(
            gone[places], np.full(places.size, 0.035), "x", color=_ALARM, transform=bottom, markersize=5
        )
        axes.axvline(float(gone[0]), color=_ALARM, linewidth=0.8, linestyle=":")


def _legend(panel: Sequence[Series]) -> list[Line2D]:
    handles = []
    if len(panel) > 1 or panel[0].name != _metric(panel[0].name):
        for series, colour in zip(panel, _COLOURS, strict=False):
            handles.append(Line2D([], [], color=colour, label=visible(series.name, 40)))
    broken = sum(int((~np.isfinite(series.values)).sum()) for series in panel)
    if broken:
        label = f"{count(broken, 'value')} NaN or Inf"
        handles.append(Line2D([], [], color=_ALARM, marker="x", linestyle="", label=label))
    return handles


def _finite(panel: Sequence[Series]) -> FloatArray:
    values = np.concatenate([series.values for series in panel])
    return _drawable(values[np.isfinite(values)])


def _drawable(values: FloatArray) -> FloatArray:
    """Axes cannot span what is near the ends of the number range."""
    held: FloatArray = np.clip(values, -_LARGEST, _LARGEST)
    held[np.abs(held) < 1 / _LARGEST] = 0.0
    return held


def _wants_log(panel: Sequence[Series]) -> bool:
    """A learning rate is read on a linear scale: its schedule has a shape."""
    values = _finite(panel)
    if parts(panel[0].name).metric == "lr":
        return False
    return bool(values.size and values.min() > 0 and values.max() > _LOG_FROM * values.min())


def _shared_limits(panel: Sequence[Series], logarithmic: bool) -> tuple[float, float]:
    """Room above and below; equal limits mean that the axis may choose for itself."""
    values = _finite(panel)
    if values.size < 2 or values.min() == values.max():
        return 0.0, 0.0
    low, high = float(values.min()), float(values.max())
    if logarithmic:
        room = (high / low) ** 0.1
        return low / room, high * room
    room = 0.1 * (high - low)
    return low - room, high + room


def _step_limits(run: Run) -> tuple[float, float]:
    start = min(float(series.steps[0]) for series in run.series.values() if len(series))
    end = max(float(series.steps[-1]) for series in run.series.values() if len(series))
    room = 0.02 * (end - start) or 0.5
    return start - room, end + room


def _thinned(steps: FloatArray, values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Lowest and highest point of each stretch: no spike is lost, nor a gap."""
    if values.size <= _POINTS_MOST:
        return steps, values
    edges = np.linspace(0, values.size, _POINTS_MOST // 3 + 1).astype(int)
    finite: BoolArray = np.isfinite(values)
    kept = []
    for start, end in itertools.pairwise(edges.tolist()):
        part = values[start:end]
        good = finite[start:end]
        chosen = {int(np.where(good, part, np.inf).argmin()), int(np.where(good, part, -np.inf).argmax())}
        if not good.all():
            chosen.add(int(good.argmin()))
        kept += [start + at for at in sorted(chosen)]
    return steps[kept], values[kept]
