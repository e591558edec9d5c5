"""`lr_find.png`: the loss of every seed over the rate, the curve through them, the range and its ends."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, NullFormatter

from traindx.experiment.lr_find.answer import RangeAnswer
from traindx.report.curves import drawable, limits
from traindx.report.figures import ALARM, COLOURS, GOOD, MUTED, save, set_scale
from traindx.report.lr_words import headline, rate, standing
from traindx.report.text import short, visible

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LOG_FROM = 5.0
# Diverged losses would flatten all that matters.
_ABOVE = 3.0


def write_range_plot(found: RangeAnswer, path: Path, *, name: str = "") -> None:
    save(lambda: _figure(found, name), path)


def _figure(found: RangeAnswer, name: str) -> Figure:
    figure = Figure(figsize=(8.6, 4.8), dpi=120, layout="constrained")
    told = headline(found)
    title = f"{visible(name, 40)}: {told}" if name else told
    figure.suptitle(visible(title, 105), x=0.01, ha="left", fontsize=11, fontweight="bold")
    axes = figure.add_subplot()
    _losses(axes, found)
    _marks(axes, found)
    axes.set_xscale("log")
    axes.set_xlim(float(found.ramps.rates[0]), float(found.ramps.rates[-1]))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xlabel("learning rate" + _position(found), fontsize=9, color=MUTED)
    axes.set_ylabel("training loss", fontsize=9, color=MUTED)
    axes.tick_params(labelsize=8, color="#999999")
    axes.legend(loc="upper left")
    return figure


def _position(found: RangeAnswer) -> str:
    told = standing(found)
    return f"; current {told}" if told else ""


def _losses(axes: Axes, found: RangeAnswer) -> None:
    ramps = found.ramps
    for number, row in enumerate(ramps.losses):
        label = f"{ramps.seeds} seeds, {ramps.steps} steps each" if not number else None
        axes.plot(ramps.rates, drawable(row), color=COLOURS[0], alpha=0.35, linewidth=0.8, label=label)
        gone = np.flatnonzero(~np.isfinite(row))
        if gone.size:
            bottom = axes.get_xaxis_transform()
            axes.plot(ramps.rates[gone[:1]], [0.03], "x", color=ALARM, transform=bottom, markersize=6)
    if found.curve is not None:
        axes.plot(ramps.rates, found.curve, color=COLOURS[0], linewidth=2.2, label="fall and rise, fitted")
    known = ramps.losses[np.isfinite(ramps.losses)]
    if known.size < 2:
        return
    start = float(np.nanmedian(ramps.losses[:, : ramps.start_steps]))
    low = float(known.min())
    shown = known[known <= start + (_ABOVE - 1.0) * max(start - low, 0.1 * abs(start))]
    logarithmic = low > 0 and start > _LOG_FROM * low
    set_scale(axes, shown, logarithmic=logarithmic)
    if limits(shown, logarithmic=logarithmic) is None:
        axes.set_ylim(start - 1.0, start + 1.0)


def _marks(axes: Axes, found: RangeAnswer) -> None:
    if found.low is not None and found.high is not None:
        label = f"suggested: {rate(found.low.value)} to {rate(found.high.value)}"
        axes.axvspan(found.low.value, found.high.value, color=GOOD, alpha=0.15, linewidth=0, label=label)
    if found.edge is not None:
        label = f"largest stable rate: {rate(found.edge.value)}"
        axes.axvline(found.edge.value, color=ALARM, linestyle="--", linewidth=1.4, label=label)
        high = min(found.edge.high, float(found.ramps.rates[-1]))
        axes.axvspan(found.edge.low, high, color=ALARM, alpha=0.08, linewidth=0)
    if found.current is not None and found.ramps.rates[0] <= found.current <= found.ramps.rates[-1]:
        label = f"current: {rate(found.current)}"
        axes.axvline(found.current, color="#222222", linestyle=":", linewidth=1.6, label=label)
