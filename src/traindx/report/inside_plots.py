"""The inside of a recorded training as PNGs: how gradients flow, and how far each step moves the weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.ticker import FuncFormatter, NullFormatter

from traindx.core.nouns import Diagnosis
from traindx.evidence.case import Case
from traindx.report.activation_plot import activations_figure, has_activations
from traindx.report.figures import ALARM, COLOURS, GOOD, MUTED, set_scale
from traindx.report.grids import Grid, grid, labelled_places, layer_names, matrices
from traindx.report.heat import USUAL, draw_field, height_of, level_scale, ratio_scale
from traindx.report.marked import headed_figure
from traindx.report.text import count, short
from traindx.report.time_plot import time_figure
from traindx.report.times import spent

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from traindx.core.nouns import FloatArray

_LABELS_ALONG = 42
_BAND_FROM = 4


def inside_plots(diagnosis: Diagnosis, case: Case) -> Iterator[tuple[str, Callable[[], Figure]]]:
    """What each picture is called, and how it is drawn: those that the recording allows."""
    gradients, ratios, time = grid(case, "grad_norm"), grid(case, "update_ratio"), spent(case)
    if gradients is not None:
        yield "gradient_flow", partial(_gradient_flow, diagnosis, case, gradients)
    if has_activations(case):
        yield "activations", partial(activations_figure, diagnosis, case)
    if ratios is not None:
        yield "update_ratios", partial(_update_ratios, diagnosis, case, ratios)
    if time is not None:
        yield "time", partial(time_figure, diagnosis, case, time)


def _gradient_flow(diagnosis: Diagnosis, case: Case, found: Grid) -> Figure:
    """The norm of each layer from input to output, then the same over time."""
    field = height_of(len(found.layers))
    figure = headed_figure(diagnosis, 3.1 + field + 1.7)
    above, below = figure.subplots(2, 1, height_ratios=[3.1, field])
    _flow(above, case, found)
    title = f"gradient norm by layer and look ({count(found.steps.size, 'look')})"
    key = draw_field(below, found, level_scale(found.seen), title, case.run.axis, field)
    lines, names = above.get_legend_handles_labels()
    listed = [*lines, *key]
    labels = [*names, *(str(patch.get_label()) for patch in key)]
    figure.legend(listed, labels, loc="outside lower left", ncols=5)
    return figure


def _flow(axes: Axes, case: Case, found: Grid) -> None:
    places = np.arange(len(found.layers), dtype=float)
    main = matrices(case, found.layers)
    main = main if main.sum() >= 2 else np.ones_like(main)
    looks = found.steps.size
    kinds: list[tuple[str, FloatArray, str, float]] = []
    if looks > 2:
        kinds.append((f"median of {looks:,} looks", found.level(0.5), COLOURS[0], 1.9))
    if looks > 1:
        kinds.append((f"first look, {case.run.axis} {short(found.steps[0])}", found.first(), COLOURS[2], 1.0))
    kinds.append((f"last look, {case.run.axis} {short(found.steps[-1])}", found.last(), COLOURS[1], 1.0))
    for name, values, colour, width in kinds:
        shown = np.where(values > 0, values, np.nan)
        mark: Any = {"marker": "o", "markersize": 3.5 if places.size <= 60 else 2}
        axes.plot(places[main], shown[main], color=colour, linewidth=width, label=name, **mark)
        axes.plot(
            places[~main], shown[~main], color=colour, linestyle="", alpha=0.55, marker=".", markersize=3
        )
    if looks >= _BAND_FROM:
        low, high = found.level(0.1), found.level(0.9)
        band = main & (low > 0)
        axes.fill_between(places[band], low[band], high[band], color=COLOURS[0], alpha=0.13, linewidth=0)
    if not main.all():
        axes.plot([], [], ".", color=MUTED, label="biases, scales and norms")
    _strange(axes, found, places)
    positive = found.seen[found.seen > 0]
    set_scale(axes, positive, logarithmic=bool(positive.size))
    axes.set_title("gradient norm from input to output")
    axes.set_xlim(-0.6, places.size - 0.4)
    _name_layers(axes, found)


def _strange(axes: Axes, found: Grid, places: FloatArray) -> None:
    """Along the foot: layers whose gradient was NaN or Inf, and those where it was exactly zero."""
    foot = axes.get_xaxis_transform()
    broken = found.ever_broken()
    zero = found.ever_zero() & ~broken
    for where, colour, mark, name in (
        (broken, ALARM, "x", "NaN or Inf in a look"),
        (zero, MUTED, "v", "exactly 0 in a look"),
    ):
        if where.any():
            low = np.full(int(where.sum()), 0.03)
            looks: Any = {"color": colour, "linestyle": "", "markersize": 5, "clip_on": False}
            axes.plot(places[where], low, marker=mark, transform=foot, label=name, **looks)


def _name_layers(axes: Axes, found: Grid) -> None:
    at = labelled_places(len(found.layers), _LABELS_ALONG)
    names = layer_names(found.layers, 26)
    few = max((len(names[one]) for one in at), default=0) * at.size <= 90
    axes.set_xticks(at, [names[one] for one in at], fontsize=7.5, rotation=0 if few else 90)


def _update_ratios(diagnosis: Diagnosis, case: Case, found: Grid) -> Figure:
    """The middle of all layers at each look, then layer by layer."""
    field = height_of(len(found.layers))
    figure = headed_figure(diagnosis, 2.1 + field + 1.6)
    above, below = figure.subplots(2, 1, height_ratios=[2.1, field])
    _middle(above, found)
    title = "update ratio by layer and look: how much a step changes the weights"
    key = draw_field(below, found, ratio_scale(), title, case.run.axis, field)
    lines, names = above.get_legend_handles_labels()
    labels = [*names, *(str(patch.get_label()) for patch in key)]
    figure.legend([*lines, *key], labels, loc="outside lower left", ncols=5)
    return figure


def _middle(axes: Axes, found: Grid) -> None:
    """Quantiles over the layers; a look in which no layer has a value is left out."""
    columns = [column[np.isfinite(column) & (column > 0)] for column in found.values.T]
    there = np.array([at for at, column in enumerate(columns) if column.size], dtype=int)
    axes.axhspan(*USUAL, color=GOOD, alpha=0.09, linewidth=0, label="usual: 1e-4 to 1e-2")
    if there.size:
        low, middle, high = (
            np.array([float(np.quantile(columns[at], share)) for at in there]) for share in (0.1, 0.5, 0.9)
        )
        axes.plot(there, middle, color=COLOURS[0], marker="o", markersize=3.5, label="median of the layers")
        if len(found.layers) > 1:
            axes.fill_between(there, low, high, color=COLOURS[0], alpha=0.15, label="80 % of the layers")
    gone = np.flatnonzero(found.broken.any(axis=0))
    if gone.size:
        foot = axes.get_xaxis_transform()
        axes.plot(
            gone, np.full(gone.size, 0.05), "x", color=ALARM, transform=foot, label="NaN or Inf in a layer"
        )
    positive = found.seen[found.seen > 0]
    ends = [*USUAL, float(positive.min()), float(positive.max())] if positive.size else [*USUAL]
    axes.set_yscale("log")
    axes.set_ylim(min(ends) / 3, max(ends) * 3)
    axes.yaxis.set_major_formatter(FuncFormatter(lambda value, _: short(value)))
    axes.yaxis.set_minor_formatter(NullFormatter())
    axes.set_xlim(-0.5, found.steps.size - 0.5)
    at = labelled_places(found.steps.size, 11)
    axes.set_xticks(at, [short(float(found.steps[one])) for one in at], fontsize=8)
    axes.set_title("update ratio: size of a step over size of the weights")
