"""The main curves of a run as one PNG: small multiples, train and validation together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from traindx.core.nouns import Run
from traindx.report.cells import span
from traindx.report.curves import Panel, finite_values, metric_of, wants_log
from traindx.report.families import families
from traindx.report.figures import ALARM, COLOURS, draw_curve, file_name, save, set_scale, set_steps
from traindx.report.text import count, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from traindx.core.nouns import Series

_PANELS_MOST = 9


def write_plots(runs: Iterable[Run], folder: Path) -> list[Path]:
    """One PNG per run; gives the paths written."""
    written: list[Path] = []
    taken = set[str]()
    for run in runs:
        path = folder / file_name(run.name, taken)
        save(lambda run=run: _figure(run), path)  # type: ignore[misc]
        written.append(path)
    return written


def _figure(run: Run) -> Figure:
    panels = _panels(run)[:_PANELS_MOST]
    columns = min(len(panels), 3 if len(panels) > 4 else 2) or 1
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.4 * columns, 2.7 * rows + 0.5), dpi=120, layout="constrained")
    figure.suptitle(visible(run.name, 48 * columns), x=0.01, ha="left", fontsize=11, fontweight="bold")
    for number, panel in enumerate(panels):
        _draw(figure.add_subplot(rows, columns, number + 1), panel, run)
    return figure


def _panels(run: Run) -> list[Panel]:
    """Curves of one metric share a panel; the run's own order says which come first."""
    panels: dict[str, list[Series]] = {}
    filled = [series for series in run.series.values() if len(series)]
    if len(filled) > _PANELS_MOST:
        filled = [family.curve for family in families(filled)]
    for series in filled:
        if len(series) > 1 or len(run.series) == 1:
            panels.setdefault(metric_of(series.name), []).append(series)
    if not panels:
        panels = {name: [series] for name, series in run.series.items() if len(series)}
    return [Panel(metric_of(name), tuple(members[: len(COLOURS)])) for name, members in panels.items()]


def _draw(axes: Axes, panel: Panel, run: Run) -> None:
    for series, colour in zip(panel.curves, COLOURS, strict=False):
        draw_curve(axes, series.steps, series.values, colour)
        gone = series.steps[~np.isfinite(series.values)]
        if gone.size:
            axes.axvline(float(gone[0]), color=ALARM, linewidth=0.8, linestyle=":")
    axes.set_title(visible(panel.metric, 44))
    values = finite_values(panel.curves)
    set_scale(axes, values, logarithmic=wants_log(panel.metric, values))
    set_steps(axes, span(run), run.axis)
    handles = _legend(panel)
    if handles:
        axes.legend(handles=handles, loc="best")


def _legend(panel: Panel) -> list[Line2D]:
    handles = []
    if len(panel.curves) > 1 or panel.curves[0].name != panel.metric:
        for series, colour in zip(panel.curves, COLOURS, strict=False):
            handles.append(Line2D([], [], color=colour, label=visible(series.name, 40)))
    broken = sum(int((~np.isfinite(series.values)).sum()) for series in panel.curves)
    if broken:
        label = f"{count(broken, 'value')} NaN or Inf"
        handles.append(Line2D([], [], color=ALARM, marker="x", linestyle="", label=label))
    return handles
