"""What flows through the layers, as a PNG: spread from input to output, silent and saturated units."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from traindx.core.nouns import Diagnosis
from traindx.evidence.case import Case
from traindx.report.figures import ALARM, COLOURS, MUTED
from traindx.report.grids import Grid, grid, labelled_places, layer_names, share_grids
from traindx.report.heat import draw_field, height_of, share_scale
from traindx.report.marked import headed_figure
from traindx.report.spreads import Spread, spreads
from traindx.report.text import short

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.gridspec import GridSpecFromSubplotSpec

    from traindx.core.nouns import FloatArray

_LABELS_ALONG = 42
_FIELD_MOST = 3.4
_HISTOGRAMS_MOST, _HISTOGRAMS_BESIDE = 12, 4
_LINEAR_WITHIN = 30.0


def has_activations(case: Case) -> bool:
    return bool(case.inside.layers("activation_std"))


def activations_figure(diagnosis: Diagnosis, case: Case) -> Figure:
    """Mean and spread of each activation, histograms of some, a field for each share that was measured."""
    found = share_grids(case)
    shares = [(title, one) for title, one in found if one.broken.any() or (one.seen > 0).any()]
    counted = spreads(case, _HISTOGRAMS_MOST)
    beside = min(len(counted), _HISTOGRAMS_BESIDE) or 1
    lines = -(-len(counted) // beside)
    fields = [height_of(len(one.layers), _FIELD_MOST) for _, one in shares]
    heights = [3.0, *([1.15 * lines + 0.2] if counted else []), *fields]
    figure = headed_figure(diagnosis, sum(heights) + 1.0 + 0.62 * len(heights))
    parts = figure.add_gridspec(len(heights), 1, height_ratios=heights)
    above = figure.add_subplot(parts[0])
    _spread(above, case)
    if counted:
        _histograms(figure, parts[1].subgridspec(lines, beside), counted, case.run.axis)
    key: dict[str, Patch] = {}
    for part, height, (title, one) in zip(range(-len(fields), 0), fields, shares, strict=True):
        axes = figure.add_subplot(parts[len(heights) + part])
        for patch in draw_field(axes, one, share_scale(), title, case.run.axis, height):
            key[str(patch.get_label())] = patch
    for title, one in found:
        if not any(one is other for _, other in shares):
            key[f"{title.partition(':')[0]}: 0 in every look"] = Patch(color="none")
    drawn, names = above.get_legend_handles_labels()
    figure.legend([*drawn, *key.values()], [*names, *key], loc="outside lower left", ncols=3)
    return figure


def _histograms(
    figure: Figure, places: GridSpecFromSubplotSpec, counted: Sequence[tuple[str, list[Spread]]], axis: str
) -> None:
    """The first look as an outline, the latest filled; heights go by the root, for zeros outdo the rest."""
    names = layer_names([name for name, _ in counted], 24)
    for number, (name, (_, looks)) in enumerate(zip(names, counted, strict=True)):
        axes = figure.add_subplot(places[number])
        for one, colour in zip(looks, (COLOURS[2], COLOURS[1])[-len(looks) :], strict=True):
            bars: Any = {"fill": True, "alpha": 0.55} if one is looks[-1] else {"linewidth": 1.3}
            axes.stairs(np.sqrt(one.shares), one.edges, color=colour, **bars)
        first, last = looks[0].step, looks[-1].step
        when = short(first) if first == last else f"{short(first)} → {short(last)}"
        axes.set_title(f"{name}  {axis} {when}", fontsize=7.5, fontweight="normal")
        if bad := max(one.nonfinite for one in looks):
            text = f"{100 * bad:.0f} % NaN or Inf"
            axes.text(0.5, 0.5, text, color=ALARM, fontsize=8, ha="center", transform=axes.transAxes)
        axes.set_yticks([])
        axes.grid(visible=False)
        axes.spines["left"].set_visible(False)
        axes.tick_params(axis="x", labelsize=7, length=2)
        axes.xaxis.set_major_locator(MaxNLocator(4))
        axes.xaxis.set_major_formatter(lambda value, _: short(value))


def _spread(axes: Axes, case: Case) -> None:
    """Mean and standard deviation of each activation at its first and its last look."""
    deviations, means = grid(case, "activation_std"), grid(case, "activation_mean")
    if deviations is None or means is None:
        return
    places = np.arange(len(deviations.layers), dtype=float)
    mean_of = dict(zip(means.layers, zip(means.first(), means.last(), strict=True), strict=True))
    centres = np.array([mean_of.get(name, (np.nan, np.nan)) for name in deviations.layers])
    looks = [("first", centres[:, 0], deviations.first(), -0.16, COLOURS[2])]
    looks.append(("last", centres[:, 1], deviations.last(), 0.16, COLOURS[1]))
    if deviations.steps.size < 2:
        looks = [("only", centres[:, 1], deviations.last(), 0.0, COLOURS[1])]
    few = places.size <= 80
    for name, centre, deviation, aside, colour in looks:
        bar: Any = {"fmt": "o", "markersize": 3.2 if few else 1.8, "elinewidth": 2.2 if few else 1.0}
        label = f"mean ± standard deviation, {name} look of each"
        axes.errorbar(places + aside, centre, deviation, color=colour, alpha=0.85, label=label, **bar)
    broken = deviations.ever_broken()
    if broken.any():
        foot = axes.get_xaxis_transform()
        low = np.full(int(broken.sum()), 0.03)
        axes.plot(places[broken], low, "x", color=ALARM, transform=foot, label="NaN or Inf in a look")
    _set_values(axes, centres, deviations)
    axes.set_title("activations from input to output")
    axes.set_xlim(-0.6, places.size - 0.4)
    at = labelled_places(places.size, _LABELS_ALONG)
    names = layer_names(deviations.layers, 26)
    wide = max((len(names[one]) for one in at), default=0) * at.size > 90
    axes.set_xticks(at, [names[one] for one in at], fontsize=7.5, rotation=90 if wide else 0)


def _set_values(axes: Axes, centres: FloatArray, deviations: Grid) -> None:
    """Linear where one scale shows all; else logarithmic on both sides of zero."""
    reach = np.abs(np.concatenate([centres.ravel(), deviations.first(), deviations.last()]))
    reach = reach[np.isfinite(reach)]
    spread = deviations.seen[deviations.seen > 0]
    if not reach.size or not spread.size:
        return
    if reach.max() > _LINEAR_WITHIN * np.median(spread):
        axes.set_yscale("symlog", linthresh=float(np.median(spread)))
    axes.axhline(0, color=MUTED, linewidth=0.8)
    axes.yaxis.set_major_formatter(lambda value, _: short(value))
