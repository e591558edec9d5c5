"""The inside of a recorded training on the page: gradients, activations, updates, where the time goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.number_text import lasting_each
from traindx.evidence.case import Case
from traindx.report.curves import POINTS_MOST
from traindx.report.grids import Grid, grid, matrices, share_grids
from traindx.report.page.charts import Chart, Charts
from traindx.report.page.fields import along_layers, field, small_histograms, stacked
from traindx.report.page.figure import Json, Key, numbers
from traindx.report.page.markup import Html, joined, tag
from traindx.report.page.problem import figure_with_key
from traindx.report.spreads import spreads
from traindx.report.text import count, short
from traindx.report.times import OTHER, PARTS, Spent, spent, time_sentence

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

_COLUMNS, _ROWS = 120, 240
_HISTOGRAMS_MOST, _BESIDE = 12, 4
_COLOURS = dict(zip((*PARTS.values(), OTHER), ("val", "train", "lr", "third", "rest"), strict=True))
_BROKEN = Key("NaN or Inf", "solid", "broken")
_ZERO = Key("exactly 0", "solid", "rest")
_BLANK = "Each column is one look; blank: not looked at."


def inside_section(case: Case, charts: Charts, name: str) -> Html | None:
    """A card with a chart for each thing that was sampled; `name` is the anchor of the run."""
    share = min(1.0, charts.limit / POINTS_MOST)
    columns, rows = max(24, int(share * _COLUMNS)), max(40, int(share * _ROWS))
    parts = [
        joined(tag("h3", title), tag("p", text, cls="where"), figure_with_key(chart, name))
        for title, text, chart in (
            *_gradients(case, charts, columns, rows),
            *_activations(case, charts, columns, rows),
            *_ratios(case, charts, columns, rows),
            *_time(case, charts),
        )
    ]
    return tag("section", tag("h2", "Inside the training"), *parts, cls="card") if parts else None


def _gradients(case: Case, charts: Charts, columns: int, rows: int) -> Iterator[tuple[str, str, Chart]]:
    found = grid(case, "grad_norm", columns, rows)
    if found is None:
        return
    yield (
        "Gradient flow",
        "Norm of the gradient of each layer, from input to output.",
        _flow(case, charts, found),
    )
    yield _field(charts, found, "level", case, "Gradient norm by layer", _BLANK)


def _flow(case: Case, charts: Charts, found: Grid) -> Chart:
    axis, looks = case.run.axis, found.steps.size
    kinds: list[tuple[str, FloatArray, str]] = []
    if looks > 1:
        kinds.append((f"first look, {axis} {short(float(found.steps[0]))}", found.first(), "third"))
    kinds.append((f"last look, {axis} {short(float(found.steps[-1]))}", found.last(), "val"))
    if looks > 2:
        kinds.append((f"median of {looks:,} looks", found.level(0.5), "train"))
    main = matrices(case, found.layers)
    main = main if main.sum() >= 2 else np.ones_like(main)
    lines: list[Json] = []
    for name, values, colour in kinds:
        shown = np.where(values > 0, values, np.nan)
        lines.append(_line(shown, name, colour, main))
        if not main.all():
            lines.append(_line(shown, name, colour, ~main) | {"mode": "markers", "opacity": 0.6})
    key = [Key(name, "line", colour) for name, _, colour in kinds]
    broken = found.ever_broken()
    strange: list[tuple[BoolArray, str, str, str]] = [
        (broken, "x-thin", "alarm", "NaN or Inf in a look"),
        (found.ever_zero() & ~broken, "triangle-down", "muted", "exactly 0 in a look"),
    ]
    strange = [one for one in strange if one[0].any()]
    key += [Key(text, symbol, colour) for _, symbol, colour, text in strange]
    marks = [_marked(*one) for one in strange]
    figure = along_layers(found.layers, lines, marks, logarithmic=bool((found.seen > 0).any()))
    return charts.place(figure, tuple(key), "Chart of the gradient norm of each layer from input to output.")


def _line(values: FloatArray, name: str, colour: str, main: BoolArray) -> Json:
    """The values of some of the layers."""
    return {
        "x": np.flatnonzero(main).tolist(),
        "y": numbers(values[main]),
        "mode": "lines+markers",
        "line": {"color": f"var(--{colour})", "width": 1.6},
        "marker": {"size": 5, "color": f"var(--{colour})"},
        "hovertemplate": f"%{{x}}<br><b>%{{y:.4~g}}</b><extra>{name}</extra>",
    }


def _marked(where: BoolArray, symbol: str, colour: str, text: str) -> Json:
    places = np.flatnonzero(where).tolist()
    edge = {"color": f"var(--{colour})", "width": 2}
    return {
        "x": places,
        "y": [0.03] * len(places),
        "mode": "markers",
        "marker": {"symbol": symbol, "size": 7, "color": f"var(--{colour})", "line": edge},
        "hovertemplate": f"%{{x}}<br><b>{text}</b><extra></extra>",
    }


def _activations(case: Case, charts: Charts, columns: int, rows: int) -> Iterator[tuple[str, str, Chart]]:
    spread, means = grid(case, "activation_std", columns, rows), grid(case, "activation_mean", columns, rows)
    if spread is not None and means is not None:
        text = "Mean and standard deviation of what each layer gives, from input to output."
        yield "Activations", text, _spread(charts, spread, means)
    counted = spreads(case, _HISTOGRAMS_MOST)
    if counted:
        text = (
            f"{count(len(counted), 'activation')} from input to output; heights go by the root of the share."
        )
        key = (Key("first look", "line", "third"), Key("latest look that was counted", "line", "val"))
        figure = small_histograms(counted, ("third", "val"), _BESIDE, case.run.axis)
        yield "Activation histograms", text, charts.place(figure, key, text)
    for title, found in share_grids(case, columns, rows):
        if found.broken.any() or (found.seen > 0).any():
            yield _field(charts, found, "share", case, f"Activations: {title}", _BLANK)


def _spread(charts: Charts, spread: Grid, means: Grid) -> Chart:
    centres = dict(zip(means.layers, zip(means.first(), means.last(), strict=True), strict=True))
    lines, key = [], []
    looks = [
        ("first look of each", 0, spread.first(), "third"),
        ("last look of each", 1, spread.last(), "val"),
    ]
    for name, which, deviation, colour in looks if spread.steps.size > 1 else looks[1:]:
        middle = np.array([centres.get(layer, (np.nan, np.nan))[which] for layer in spread.layers])
        bar = {"array": numbers(deviation), "color": f"var(--{colour})", "thickness": 2, "width": 0}
        line = _line(middle, name, colour, np.ones(middle.size, dtype=bool))
        lines.append({**line, "mode": "markers", "error_y": bar, "offsetgroup": name})
        key.append(Key(f"mean and standard deviation, {name}", "line", colour))
    broken = spread.ever_broken()
    marks = [_marked(broken, "x-thin", "alarm", "NaN or Inf in a look")] if broken.any() else []
    key += [Key("NaN or Inf in a look", "x-thin", "alarm")] if broken.any() else []
    figure = along_layers(spread.layers, lines, marks, logarithmic=False)
    figure["layout"] |= {"scattermode": "group", "scattergap": 0.5}  # the looks beside each other
    return charts.place(
        figure, tuple(key), "Chart of mean and spread of each activation from input to output."
    )


def _ratios(case: Case, charts: Charts, columns: int, rows: int) -> Iterator[tuple[str, str, Chart]]:
    found = grid(case, "update_ratio", columns, rows)
    if found is not None:
        text = f"What a step changes over the size of the weights; 1e-4 to 1e-2 is usual. {_BLANK}"
        yield _field(charts, found, "ratio", case, "Update ratio by layer", text)


def _field(
    charts: Charts, found: Grid, kind: str, case: Case, title: str, text: str
) -> tuple[str, str, Chart]:
    key = [_BROKEN] if found.broken.any() else []
    if kind != "share" and (found.values <= 0).any():
        key.append(_ZERO)
    all_layers = len(case.inside.layers(found.statistic))
    if len(found.layers) < all_layers:
        text += f" {len(found.layers):,} of {all_layers:,} layers are shown."
    label = f"{title} over the {case.run.axis}s of the run, as a coloured field."
    return title, text, charts.place(field(found, kind, case.run.axis), tuple(key), label)


def _time(case: Case, charts: Charts) -> Iterator[tuple[str, str, Chart]]:
    found = spent(case)
    if found is not None:
        whole = f"{lasting_each(found.total)} in {count(found.timed, 'timed step')}"
        text = f"{time_sentence(found).capitalize()}, {whole}."
        yield "Where the time goes", text, _spent(case, charts, found)


def _spent(case: Case, charts: Charts, found: Spent) -> Chart:
    key = tuple(
        Key(f"{part} {100 * found.share(part):.0f} %", "solid", _COLOURS[part]) for part in found.parts
    )
    figure = stacked(found.steps, found.parts, _COLOURS, case.run.axis)
    return charts.place(figure, key, "Chart of the time of a step by what it is spent on.")
