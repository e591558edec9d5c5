"""Charts of the inside as data for plotly.js: layers by samples, layers in a row, parts of a step."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.report.charts import Drawing, Field, HistogramChart
from traindx.report.curves import drawable
from traindx.report.grids import labelled_places, layer_names
from traindx.report.spreads import Spread
from traindx.report.text import short
from traindx.report.to_plotly import Json, Key, chart_text, numbers, plain_layout

if TYPE_CHECKING:
    from traindx.core.nouns import BoolArray, FloatArray

_ROW, _LEAST, _ROWS_MOST, _LABELS_MOST = 16, 88, 620, 44
_TICK, _BESIDE = 20, 4
_LEVELS = tuple(f"level-{number}" for number in range(5))
_SHARES = tuple(f"share-{number}" for number in range(5))
_RATIOS = tuple(f"ratio-{number}" for number in range(8))  # one for each decade from 1e-7 to 1
_DECADES_MOST = 12


def inside_figure(drawing: Drawing) -> tuple[Json, tuple[Key, ...]]:
    """The figure and its key."""
    match drawing:
        case Field():
            return _field(drawing), tuple(_field_key(drawing))
        case HistogramChart():
            return _histograms(drawing), (
                Key("first sample", "line", "var(--third)"),
                Key("last sample that was counted", "line", "var(--val)"),
            )
    raise TypeError(type(drawing))


def _field_key(drawing: Field) -> list[Key]:
    key = [Key("NaN or Inf", "solid", "var(--broken)")] if drawing.grid.broken.any() else []
    zero = drawing.kind != "share" and (drawing.grid.values <= 0).any()
    return [*key, Key("exactly 0", "solid", "var(--rest)")] if zero else key


def _field(drawing: Field) -> Json:
    grid, kind, axis = drawing.grid, drawing.kind, drawing.axis
    columns = [short(float(step)) for step in grid.steps]
    names = distinct_names(grid.layers)
    place: Json = {"x": columns, "y": names}
    logarithmic = kind != "share"
    zero: BoolArray = (grid.values <= 0) & logarithmic
    positive = np.where(zero, np.nan, grid.values)
    height = min(max(_ROW * len(names), _LEAST), _ROWS_MOST)
    where = f"%{{y}}<br>{axis} %{{x}}<br>"
    value = "%{customdata:.4~g}" if logarithmic else "%{z:.1%}"
    traces: list[Json] = [
        {
            "type": "heatmap",
            **place,
            "z": [numbers(row) for row in positive],
            "logarithmic": logarithmic,
            **_scale(kind, positive, height // _TICK),
            "hovertemplate": f"{where}<b>{value}</b><extra></extra>",
            "hoverongaps": False,
        }
    ]
    for where_missing, colour, text in ((zero, "rest", "exactly 0"), (grid.broken, "broken", "NaN or Inf")):
        if where_missing.any():
            traces.append(_covering(place, where_missing, colour, f"{where}<b>{text}</b><extra></extra>"))
    layout = plain_layout(height, 24 + 6 * min(max(map(len, names)), 30))
    layout["xaxis"] = _ticks(columns, labelled_places(len(columns), 12)) | {
        "title": _title(f"{axis} of the sample")
    }
    layout["yaxis"] = _ticks(names, labelled_places(len(names), min(_LABELS_MOST, height // 14)))
    layout["yaxis"] |= {"autorange": "reversed", "fixedrange": len(names) < 8}
    return {"data": traces, "layout": layout}


def _histograms(drawing: HistogramChart) -> Json:
    """One small chart for each activation, several in a row."""
    histograms, colours = drawing.counted, ("third", "val")
    across = min(_BESIDE, len(histograms))
    lines = -(-len(histograms) // across)
    layout = plain_layout(140 * lines, 12, 10) | {"showlegend": False}
    traces: list[Json] = []
    for number, (name, samples) in enumerate(histograms):
        left, top = number % across / across, 1 - number // across / lines
        axis_suffix = "" if number == 0 else str(number + 1)
        room = [left + 0.01, left + 1 / across - 0.02]
        layout[f"xaxis{axis_suffix}"] = {
            "domain": room,
            "anchor": f"y{axis_suffix}",
            "nticks": 4,
            "showgrid": False,
        }
        height = [max(0.0, top - 1 / lines + 0.22 / lines), top - 0.16 / lines]
        layout[f"yaxis{axis_suffix}"] = {
            "domain": height,
            "anchor": f"x{axis_suffix}",
            "visible": False,
            "rangemode": "tozero",
        }
        bad = max(spread.nonfinite for spread in samples)
        title = chart_text(layer_names([name], 24)[0]) + (f", {100 * bad:.0f} % NaN or Inf" if bad else "")
        place = {"x": room[0], "y": top - 0.15 / lines, "xref": "paper", "yref": "paper"}
        layout["annotations"].append(
            place | {"text": title, "xanchor": "left", "yanchor": "bottom", "showarrow": False}
        )
        for spread, colour in zip(samples, colours[-len(samples) :], strict=False):
            traces.append(_outline(spread, colour, axis_suffix, drawing.axis, filled=spread is samples[-1]))
    return {"data": traces, "layout": layout}


def _outline(spread: Spread, colour: str, axis_suffix: str, axis: str, *, filled: bool) -> Json:
    """A histogram as a line of stairs; heights go by the root, for zeros outdo the rest."""
    sample = f"{axis} {short(spread.step)}"
    return {
        "type": "scatter",
        "x": numbers(spread.edges),
        "y": [*numbers(np.sqrt(spread.shares)), 0],
        "customdata": [*numbers(spread.shares), 0],
        "xaxis": f"x{axis_suffix}",
        "yaxis": f"y{axis_suffix}",
        "mode": "lines",
        "line": {"shape": "hv", "width": 1.6, "color": f"var(--{colour})"},
        "hovertemplate": f"%{{x:.3~g}}<br><b>%{{customdata:.1%}}</b><extra>{sample}</extra>",
        **({"fill": "tozeroy"} if filled else {}),
    }


def distinct_names(layers: Sequence[str]) -> list[str]:
    """Names as plotly shows them, no two alike: it would draw one row for both."""
    names_in_order: dict[str, None] = {}
    for name in layer_names(layers, 56):
        text, number = chart_text(name), 2
        while text in names_in_order:
            text, number = f"{chart_text(name)} ({number})", number + 1
        names_in_order[text] = None
    return list(names_in_order)


def _covering(place: Json, where: BoolArray, colour: str, hover: str) -> Json:
    """A field of one colour over another."""
    return {
        "type": "heatmap",
        **place,
        "z": [[1 if there else None for there in row] for row in where.tolist()],
        "colorscale": [[0, f"var(--{colour})"], [1, f"var(--{colour})"]],
        "showscale": False,
        "hovertemplate": hover,
        "hoverongaps": False,
    }


def _scale(kind: str, values: FloatArray, most: int) -> Json:
    """The colours, their range, and the labels of the colour bar."""
    bar: Json = {
        "thickness": 12,
        "outlinewidth": 0,
        "len": 1.0,
        "tickfont": {"color": "var(--muted)", "size": 11},
    }
    if kind == "share":
        colours, ends = _SHARES, (0.0, 1.0)
        bar |= {"tickformat": ".0%", "nticks": 5}
    else:
        colours, ends = (_RATIOS, (-7.0, 0.0)) if kind == "ratio" else (_LEVELS, _log_ends(values))
        first, last = math.ceil(ends[0]), math.floor(ends[1])
        powers = list(range(first, last + 1, max(1, -(-(last - first + 1) // most))))
        if kind == "ratio" and len(powers) < 8:
            powers = [-7, -4, -2, 0]
        texts = [short(10.0**power) for power in powers]
        usual = {power for power in (-4, -2) if kind == "ratio"}
        bar |= {
            "tickvals": powers,
            "ticktext": [
                f"{text}, usual" if power in usual else text
                for power, text in zip(powers, texts, strict=True)
            ],
        }
    stops = [[round(at / (len(colours) - 1), 4), f"var(--{name})"] for at, name in enumerate(colours)]
    return {"colorscale": stops, "zmin": ends[0], "zmax": ends[1], "colorbar": bar}


def _log_ends(values: FloatArray) -> tuple[float, float]:
    positive = drawable(values)
    positive = positive[np.isfinite(positive) & (positive > 0)]
    if not positive.size:
        return -1.0, 1.0
    low, high = math.log10(positive.min()), math.log10(positive.max())
    low = max(low, high - _DECADES_MOST)
    room = max(0.0, (1.0 - (high - low)) / 2)
    return low - room, high + room


def _ticks(names: Sequence[str], places: Sequence[Any] | np.ndarray[Any, Any]) -> Json:
    labels = [names[int(at)] for at in places]
    ordered = {"categoryorder": "array", "categoryarray": list(names)}
    return {"type": "category", **ordered, "tickmode": "array", "tickvals": labels, "ticktext": labels}


def _title(text: str) -> Json:
    return {"text": chart_text(text), "standoff": 4}
