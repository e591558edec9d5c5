"""`training_comparison.png`: groups of runs beside each other, two by two; repeats are a band."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from traindx.core.nouns import Run
from traindx.report.curves import broken_steps, drawable, thinned, wants_log
from traindx.report.figures import ALARM, COLOURS, MUTED, save, set_scale, set_steps
from traindx.report.side_by_side import SHARE, Line, SharedPanel, SideBySide, band
from traindx.report.text import count, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_MORE_COLOURS = (*COLOURS, "#c2518f", "#4fa3a5", "#8c6d46", "#9aa12a")
_DRAWN_MOST = 60
_MISSING = {
    "loss": "a loss",
    "val/loss": "the validation loss (val/loss)",
    "lr": "the learning rate (lr)",
    "grad_norm": "the gradient norm (grad_norm)",
}


def write_comparison_plot(groups: Mapping[str, Sequence[Run]], path: Path, *, title: str = "") -> None:
    """Draw named groups of runs, `{"before": [...], "after": [...]}`, in the order given.

    A group of several runs (seeds, say) is the middle of them with a band from the lowest to the
    highest. Beyond eight groups the lines go from dark (the first) to light, without a legend.
    """
    save(lambda: _figure(groups, title), path)


def _figure(groups: Mapping[str, Sequence[Run]], title: str) -> Figure:
    held = {name: runs for name, runs in groups.items() if runs}
    shown = dict(list(held.items())[:_DRAWN_MOST])
    beside = SideBySide(shown)
    panels = beside.panels()
    figure = Figure(figsize=(11.0, 7.4), dpi=120, layout="constrained")
    heading = visible(title, 110) or _told(held)
    figure.suptitle(heading, x=0.01, ha="left", fontsize=11, fontweight="bold")
    colours = _colours(list(shown))
    for number in range(4):
        axes = figure.add_subplot(2, 2, number + 1)
        if number < len(panels):
            _draw(axes, panels[number], beside, colours)
        else:
            _empty(axes, panels)
    handles = _legend(shown, colours)
    if handles:
        columns = min(len(handles), 4)
        figure.legend(handles=handles, loc="outside lower left", ncols=columns)
    elif len(shown) > 1:
        left = f"; {len(held) - len(shown):,} more are not drawn" if len(held) > len(shown) else ""
        figure.text(0.01, 0.0, f"dark: first, light: last of {len(shown):,}{left}", fontsize=8, color=MUTED)
    return figure


def _told(groups: Mapping[str, Sequence[Run]]) -> str:
    runs = count(sum(len(runs) for runs in groups.values()), "run")
    return runs if len(groups) > 3 else f"{' / '.join(visible(name, 34) for name in groups)}: {runs}"


def _colours(names: Sequence[str]) -> dict[str, Any]:
    if len(names) <= len(_MORE_COLOURS):
        return dict(zip(names, _MORE_COLOURS, strict=False))
    shades = colormaps["viridis"](np.linspace(0.0, 0.92, len(names)))
    return dict(zip(names, shades, strict=True))


def _legend(groups: Mapping[str, Sequence[Run]], colours: Mapping[str, Any]) -> list[Line2D]:
    if len(groups) > len(_MORE_COLOURS):
        return []
    return [
        Line2D([], [], color=colours[name], linewidth=2, label=_label(name, len(runs)))
        for name, runs in groups.items()
    ]


def _label(name: str, runs: int) -> str:
    return visible(name, 44) + (f" ({runs} runs: middle, lowest to highest)" if runs > 1 else "")


def _draw(axes: Axes, panel: SharedPanel, beside: SideBySide, colours: Mapping[str, Any]) -> None:
    for name, lines in panel.lines.items():
        for dashed in (False, True):
            same = [line for line in lines if line.dashed == dashed]
            if same:
                _draw_group(axes, same, colours[name], faint=len(panel.lines) > len(_MORE_COLOURS))
    axes.set_title(panel.title)
    values = panel.values
    set_scale(axes, values, logarithmic=_wants_log(panel))
    ends = [end for lines in panel.lines.values() for line in lines for end in line.x[[0, -1]].tolist()]
    set_steps(axes, (min(ends), max(ends)), beside.axis)
    if beside.axis == SHARE:
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _wants_log(panel: SharedPanel) -> bool:
    """Rates of runs that differ tenfold are told apart on a logarithmic scale only."""
    values = panel.values
    if panel.metric != "lr":
        return wants_log(panel.metric, values)
    peaks = [
        float(np.nanmax(line.shown[1]))
        for lines in panel.lines.values()
        for line in lines
        if np.isfinite(line.shown[1]).any()
    ]
    return bool(values.size) and values.min() > 0 and min(peaks) > 0 and max(peaks) > 5 * min(peaks)


def _draw_group(axes: Axes, lines: Sequence[Line], colour: Any, *, faint: bool) -> None:
    style = "--" if lines[0].dashed else "-"
    together = band(lines) if len(lines) > 1 else None
    if together is not None:
        if not faint:  # dozens of bands would hide each other
            axes.fill_between(together.x, together.low, together.high, color=colour, alpha=0.18, linewidth=0)
        width = 0.9 if faint else 1.8
        axes.plot(together.x, drawable(together.middle), style, color=colour, linewidth=width)
    for line in lines:
        if together is None:
            _draw_line(axes, line, colour, style, faint=faint)
        gone = broken_steps(line.x, line.y, 3)
        if gone.size:
            low = np.full(gone.size, 0.03)
            bottom = axes.get_xaxis_transform()
            axes.plot(gone, low, "x", color=ALARM, transform=bottom, markersize=5, clip_on=False)


def _draw_line(axes: Axes, line: Line, colour: Any, style: str, *, faint: bool) -> None:
    if line.smooth is not None and not faint:
        x, y = thinned(line.x, drawable(line.y))
        axes.plot(x, y, color=colour, linewidth=0.7, alpha=0.28)
    x, y = thinned(*line.shown)
    few = int(np.isfinite(y).sum()) <= 12
    looks: dict[str, Any] = {"marker": "o", "markersize": 3} if few else {}
    axes.plot(
        x, y, style, color=colour, linewidth=0.9 if faint else 1.7, alpha=0.8 if faint else 1.0, **looks
    )


def _empty(axes: Axes, panels: Sequence[SharedPanel]) -> None:
    """What was not logged, said where it would stand."""
    drawn = {panel.metric for panel in panels}
    missing = [words for name, words in _MISSING.items() if name not in drawn and name != "val/loss"]
    axes.set_axis_off()
    told = "\n".join(["not in these logs:", *(missing or ["a further metric"])])
    axes.text(0.5, 0.5, told, ha="center", va="center", fontsize=9, color=MUTED, transform=axes.transAxes)
