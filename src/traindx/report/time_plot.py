"""Where the time goes, as a PNG: by step, and in all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.ticker import FuncFormatter

from traindx.core.nouns import Diagnosis
from traindx.core.number_text import lasting_each
from traindx.evidence.case import Case
from traindx.report.figures import set_steps
from traindx.report.marked import headed_figure
from traindx.report.text import count, short
from traindx.report.times import OTHER, PARTS, Spent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_PART_COLOURS = ("#d9731a", "#2a6fbb", "#8a5fb5", "#3a9a5c", "#b8bec4")
_COLOURS = dict(zip((*PARTS.values(), OTHER), _PART_COLOURS, strict=True))
_NAMED_FROM = 0.06
_ROOM = 1.25
_AREA_FROM = 3


def time_figure(diagnosis: Diagnosis, case: Case, found: Spent) -> Figure:
    """Milliseconds of a step above, the whole run below."""
    figure = headed_figure(diagnosis, 4.9)
    above, below = figure.subplots(2, 1, height_ratios=[3.2, 0.75])
    _by_step(above, case, found)
    _in_all(below, found)
    figure.legend(*above.get_legend_handles_labels(), loc="outside lower left", ncols=5)
    return figure


def _by_step(axes: Axes, case: Case, found: Spent) -> None:
    names = [f"{part}, {_percent(found, part)}" for part in found.parts]
    colours = [_COLOURS[part] for part in found.parts]
    heights = np.array([1000 * values for values in found.parts.values()])
    if found.steps.size >= _AREA_FROM:
        axes.stackplot(found.steps, heights, labels=names, colors=colours, linewidth=0)
    else:
        foot = np.zeros(found.steps.size)
        for name, height, colour in zip(names, heights, colours, strict=True):
            axes.bar(found.steps, height, 0.5, bottom=foot, color=colour, label=name)
            foot = foot + height
    total = heights.sum(axis=0)
    top = _top(total)
    axes.set_ylim(0, top)
    title = "where the time of a step goes (milliseconds)"
    if total.max() > top:
        above = int((total > top).sum())
        title += f"; the highest of {count(above, 'point')} beyond the edge: {short(float(total.max()))}"
    axes.set_title(title)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    set_steps(axes, (float(found.steps[0]), float(found.steps[-1])), case.run.axis)
    if found.steps.size < _AREA_FROM:
        axes.set_xticks(found.steps, [short(float(step)) for step in found.steps])


def _top(total: np.ndarray[tuple[int], np.dtype[np.float64]]) -> float:
    """The first step is often a hundred times the others: the axis is for the others."""
    usual = float(np.quantile(total, 0.95)) if total.size > 10 else float(total.max())
    highest = float(total.max())
    return (highest if highest < 3 * usual else usual * _ROOM) * 1.05 or 1.0


def _in_all(axes: Axes, found: Spent) -> None:
    left = 0.0
    for part, seconds in found.totals.items():
        axes.barh([0], [seconds], left=left, color=_COLOURS[part], height=0.7)
        if found.share(part) >= _NAMED_FROM:
            text = f"{lasting_each(seconds)}\n{_percent(found, part)}"
            axes.text(left + seconds / 2, 0, text, ha="center", va="center", fontsize=8, color="white")
        left += seconds
    axes.set_title(f"in all: {lasting_each(found.total)} in {count(found.timed, 'timed step')}")
    axes.set_xlim(0, found.total)
    axes.axis("off")


def _percent(found: Spent, part: str) -> str:
    return f"{100 * found.share(part):.0f} %"
