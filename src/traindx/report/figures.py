"""How PNGs look, and what they are called: style, colours, axes and file names shared by all plots."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from traindx.report.curves import broken_steps, drawable, limits, thinned
from traindx.report.text import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from traindx.core.nouns import FloatArray

COLOURS = ("#2a6fbb", "#d9731a", "#3a9a5c", "#8a5fb5")
ALARM = "#c8232c"
GOOD = "#1b7a47"
MUTED = "#666666"
_FEW = 40
_FEW_DECADES = 300.0
_NAME_LONGEST = 80
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


def save(draw: Callable[[], Figure], path: Path) -> None:
    """Draw and write a picture in the common style."""
    with rc_context(_STYLE), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # letters the font lacks, scales without room
        figure = draw()
        FigureCanvasAgg(figure)
        figure.savefig(path, format="png")


def file_name(run: str, taken: set[str], ending: str = "") -> str:
    """A name made of letters, digits, dots and dashes, from the end of the run's path."""
    tail = re.sub(r"[^A-Za-z0-9._-]+", "-", run.replace("\\", "/")).strip("-.")
    if len(tail) > _NAME_LONGEST:
        tail = tail[-_NAME_LONGEST:]
        tail = tail[tail.find("-", 0, _NAME_LONGEST // 2) + 1 :]  # whole words, where there are any
    tail = tail.lstrip("-.") or "run"
    name, number = f"{tail}{ending}", 2
    while name.lower() in taken:
        name, number = f"{tail}-{number}{ending}", number + 1
    taken.add(name.lower())
    return f"{name}.png"


def draw_curve(axes: Axes, steps: FloatArray, values: FloatArray, colour: str, **looks: Any) -> None:
    """The finite part as a line; where it is not finite, red marks along the bottom."""
    x, y = thinned(steps, values)
    few = int(np.isfinite(y).sum()) <= _FEW
    line: dict[str, Any] = {"linewidth": 1.3, "marker": "o" if few else None, "markersize": 3}
    axes.plot(x, drawable(y), color=colour, **{**line, **looks})
    gone = broken_steps(steps, values)
    if gone.size:
        bottom = axes.get_xaxis_transform()
        low = np.full(gone.size, 0.035)
        axes.plot(gone, low, "x", color=ALARM, transform=bottom, markersize=5, clip_on=False)


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


def set_steps(axes: Axes, span: tuple[float, float], name: str | None) -> None:
    """The step axis, with `name` under it."""
    room = 0.02 * (span[1] - span[0]) or 0.5
    axes.set_xlim(span[0] - room, span[1] + room)
    axes.xaxis.set_major_locator(MaxNLocator(5))
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    if name:
        axes.set_xlabel(name, fontsize=8, color=MUTED)
    axes.tick_params(labelsize=8, color="#999999")
