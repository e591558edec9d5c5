"""The inside of a recorded training as charts: gradients, activations, updates, where the time goes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.facts import facts
from traindx.core.number_text import lasting_each
from traindx.evidence.case import Case
from traindx.report.charts import Curves, Drawing, Field, HistogramChart, HorizontalLine, Line, Mark, Panel
from traindx.report.curves import drawable
from traindx.report.grids import Grid, grid, matrices, share_grids
from traindx.report.spreads import spreads
from traindx.report.text import count, short
from traindx.report.times import OTHER, PARTS, Spent, spent, time_sentence

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

USUAL = (1e-4, 1e-2)  # the change of a step over the size of the weights in most trainings that go well
_HISTOGRAMS_MOST = 12
_BAND_FROM = 4
_TIME_COLOURS = dict(zip((*PARTS.values(), OTHER), ("val", "train", "lr", "third", "rest"), strict=True))
_BLANK = "Each column is one sample; blank: not sampled."


@dataclass(frozen=True)
class Part:
    """One chart with its title and a sentence on how to read it."""

    title: str
    text: str
    drawing: Drawing


def inside_parts(case: Case, columns: int = 120, rows: int | None = None) -> dict[str, list[Part]]:
    """The charts that the recording allows, by the picture they belong to."""
    charts = {
        "gradient_flow": list(_gradients(case, columns, rows)),
        "activations": list(_activations(case, columns, rows)),
        "update_ratios": list(_ratios(case, columns, rows)),
        "time": list(_time(case)),
        "weights": list(_weights(case, columns, rows)),
        "curvature": list(_curvature(case)),
    }
    return {name: parts for name, parts in charts.items() if parts}


def _gradients(case: Case, columns: int, rows: int | None) -> Iterator[Part]:
    norms = grid(case, "grad_norm", columns, rows)
    if norms is None:
        return
    axis, samples = case.run.axis, norms.steps.size
    kinds: list[tuple[str, FloatArray, str]] = []
    if samples > 1:
        kinds.append((f"first sample, {axis} {short(float(norms.steps[0]))}", norms.first(), "third"))
    kinds.append((f"last sample, {axis} {short(float(norms.steps[-1]))}", norms.last(), "val"))
    if samples > 2:
        kinds.append((f"median of {samples:,} samples", norms.level(0.5), "train"))
    main = matrices(case, norms.layers)
    main = main if main.sum() >= 2 else np.ones_like(main)
    lines = []
    for name, values, colour in kinds:
        where = main & (values > 0)
        line = _along(name, values, colour, where)
        if colour == "train" and samples >= _BAND_FROM:
            line = replace(line, low=norms.level(0.1)[where], high=norms.level(0.9)[where])
        lines.append(line)
        if not main.all():
            lines.append(replace(_along(name, values, colour, ~main & (values > 0)), joined=False))
    flow = _layers("gradient norm from input to output", norms, lines, positive=True)
    yield Part("Gradient flow", "Norm of the gradient of each layer, from input to output.", flow)
    yield _field(case, norms, "level", "Gradient norm by layer", _BLANK)


def _along(name: str, values: FloatArray, colour: str, where: BoolArray) -> Line:
    """The values of some of the layers, by their place."""
    return Line(name, np.flatnonzero(where).astype(float), values[where], colour, None)


def _layers(title: str, layers: Grid, lines: Sequence[Line], *, positive: bool) -> Curves:
    """Layers from input to output; those that were NaN, Inf or exactly 0 in a sample are marked."""
    broken, count_of = layers.ever_broken(), len(layers.layers)
    zero = layers.ever_zero() & ~broken & positive
    marks = [Mark("broken", float(at), "NaN or Inf in a sample") for at in np.flatnonzero(broken)]
    marks += [Mark("zero", float(at), "exactly 0 in a sample") for at in np.flatnonzero(zero)]
    filled = tuple(line for line in lines if line.x.size)
    panel = Panel("layers", title, filled, tuple(marks), positive and bool(filled))
    return Curves((panel,), "layer", (-0.5, count_of - 0.5), f"{title}.", names=tuple(layers.layers))


def _activations(case: Case, columns: int, rows: int | None) -> Iterator[Part]:
    spread, means = grid(case, "activation_std", columns, rows), grid(case, "activation_mean", columns, rows)
    if spread is None:
        return
    if means is not None:
        text = "Mean and standard deviation of what each layer gives, from input to output."
        yield Part("Activations", text, _spread(spread, means))
    histograms = spreads(case, _HISTOGRAMS_MOST)
    if histograms:
        number = count(len(histograms), "activation")
        text = f"{number}, first and last sample; heights are the root of the share."
        yield Part("Activation histograms", text, HistogramChart(tuple(histograms), case.run.axis, text))
    for title, shares in share_grids(case, columns, rows):
        if shares.broken.any() or (shares.seen > 0).any():
            yield _field(case, shares, "share", f"Activations: {title}", _BLANK)


def _spread(spread: Grid, means: Grid) -> Curves:
    centres = dict(zip(means.layers, zip(means.first(), means.last(), strict=True), strict=True))
    layer_means = np.array([centres.get(layer, (np.nan, np.nan)) for layer in spread.layers])
    lines = []
    kinds = [
        ("first", layer_means[:, 0], spread.first(), "third"),
        ("last", layer_means[:, 1], spread.last(), "val"),
    ]
    for name, middle, deviation, colour in kinds if spread.steps.size > 1 else kinds[1:]:
        finite = np.isfinite(middle) & np.isfinite(deviation)
        line = _along(f"mean ± standard deviation, {name} sample", middle, colour, finite)
        low, high = (middle - deviation)[finite], (middle + deviation)[finite]
        lines.append(replace(line, low=drawable(low), high=drawable(high)))
    return _layers("activations from input to output", spread, lines, positive=False)


def _ratios(case: Case, columns: int, rows: int | None) -> Iterator[Part]:
    ratios = grid(case, "update_ratio", columns, rows)
    if ratios is None:
        return
    positive = [column[np.isfinite(column) & (column > 0)] for column in ratios.values.T]
    there = np.array([bool(column.size) for column in positive])
    low, middle, high = (
        np.array([float(np.quantile(column, share)) for column in positive if column.size])
        for share in (0.1, 0.5, 0.9)
    )
    text = "What a step changes over the size of the weights; 1e-4 to 1e-2 is usual."
    if middle.size > 1:
        line = Line("median of the layers", ratios.steps[there], middle, "train", None, low=low, high=high)
        ends = np.concatenate([ratios.seen[ratios.seen > 0], USUAL])
        levels = (HorizontalLine(USUAL[0], "usual from 1e-4"), HorizontalLine(USUAL[1], "usual up to 1e-2"))
        title = "update ratio: size of a step over size of the weights"
        panel = Panel("update_ratio", title, (line,), (), True, ends, levels)
        span = (float(ratios.steps[0]), float(ratios.steps[-1]))
        label = "Update ratio over the steps: median of the layers, band of 80 % of them."
        yield Part("Update ratio", text, Curves((panel,), case.run.axis, span, label))
    yield _field(case, ratios, "ratio", "Update ratio by layer", f"{text} {_BLANK}")


def _field(case: Case, field: Grid, kind: str, title: str, text: str) -> Part:
    all_layers = len(case.inside.layers(field.statistic))
    if len(field.layers) < all_layers:
        text += f" {len(field.layers):,} of {all_layers:,} layers are shown."
    label = f"{title} over the {case.run.axis}s of the run, as a coloured field."
    return Part(title, text, Field(field, kind, title, case.run.axis, label))  # type: ignore[arg-type]


def _curvature(case: Case) -> Iterator[Part]:
    """The loss along the directions of the largest and the smallest curvature."""
    for cut in facts(case.inside.fact("curvature").get("slices")):
        at, loss = np.array(cut["at"], dtype=float), np.array(cut["loss"], dtype=float)
        name = str(cut["direction"])
        panel = Panel("loss", f"loss along the {name}", (Line(name, at, loss, "train", None),))
        text = f"Loss along the direction of the {name}."
        yield Part(
            f"Loss along the {name}", text, Curves((panel,), "distance", (float(at[0]), float(at[-1])), text)
        )


def _weights(case: Case, columns: int, rows: int | None) -> Iterator[Part]:
    """Of checkpoints: the norm of each layer's weights, and over several of them how it changed."""
    norms = grid(case, "weight_norm", columns, rows) if case.inside.checked else None
    if norms is None:
        return
    place = f"{case.run.axis} {short(float(norms.steps[-1]))}" if norms.steps.size > 1 else "this checkpoint"
    lines = [_along(place, norms.last(), "val", norms.last() > 0)]
    if norms.steps.size > 1:
        first = f"{case.run.axis} {short(float(norms.steps[0]))}"
        lines.insert(0, _along(first, norms.first(), "third", norms.first() > 0))
    title = "norm of the weights from input to output"
    yield Part("Weights", "Norm of the weights of each layer.", _layers(title, norms, lines, positive=True))
    changes = grid(case, "weight_change", columns, rows)
    if changes is not None:
        text = "What changed since the checkpoint before, over the size of the weights."
        yield _field(case, changes, "level", "Change of the weights by layer", text)


def _time(case: Case) -> Iterator[Part]:
    times = spent(case)
    if times is not None:
        whole = f"{lasting_each(times.total)} in {count(times.timed, 'timed step')}"
        text = f"{time_sentence(times).capitalize()}, {whole}."
        yield Part("Where the time goes", text, _stacked(case, times))


@np.errstate(all="ignore")  # a damaged recording holds numbers near the ends of the range
def _stacked(case: Case, times: Spent) -> Curves:
    """Parts of a step on top of each other. The axis is for usual steps: the first is often far longer."""
    foot = np.zeros(times.steps.size)
    lines = []
    for part, seconds in times.parts.items():
        top = foot + 1000 * seconds
        name, colour = f"{part}, {100 * times.share(part):.0f} %", _TIME_COLOURS[part]
        line = Line(name, times.steps, top, colour, None, low=foot, high=top, opacity=0.75)
        lines.append(replace(line, amounts=1000 * seconds))
        foot = top
    highest = float(foot.max())
    usual = float(np.quantile(foot, 0.95)) if foot.size > 10 else highest
    edge = highest if highest < 3 * usual else 1.3 * usual
    title = "where the time of a step goes (milliseconds)"
    if highest > edge:
        title += (
            f"; the highest of {count(int((foot > edge).sum()), 'point')} beyond the edge: {short(highest)}"
        )
    panel = Panel("time", title, tuple(lines), held=np.array([0.0, edge]))
    span = (float(times.steps[0]), float(times.steps[-1]))
    return Curves((panel,), case.run.axis, span, "Time of a step by what it is spent on.")
