"""Curves as data for plotly.js: panels above each other on one axis, with marks on them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.report.charts import Curves, HorizontalLine, Line, Mark, Panel
from traindx.report.curves import broken_steps, drawable, limits
from traindx.report.grids import labelled_places, layer_names
from traindx.report.text import count, short
from traindx.report.to_plotly import FEW, FigureStore, Json, Key, chart_text, css, numbers

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_HIGH, _LOW, _GAP, _TOP, _BOTTOM = 260, 120, 32, 24, 44
_TITLE = {
    "x": 0,
    "xref": "paper",
    "yref": "paper",
    "xanchor": "left",
    "yanchor": "bottom",
    "showarrow": False,
}
_GROUPS_NAMED = 10
_SIZES = {"star": 12, "circle-open": 10, "diamond": 8}
_SIGNS = {
    "point": ("circle-open", "alarm"),
    "lr": ("diamond", "lr"),
    "best": ("star", "good"),
    "broken": ("x-thin", "alarm"),
    "zero": ("triangle-down", "muted"),
}
_LABELS_ALONG, _LETTERS_ALONG = 40, 110
_ORDER = {"line": 0, "thick": 1}


class Figure:
    """Panels above each other, each with two y axes: a hidden one from 0 to 1 for marks, the curve's own."""

    def __init__(self, store: FigureStore, curves: Curves) -> None:
        self.store = store
        self.chart = curves
        self.traces: list[Json] = []
        self.key: dict[str, Key] = {}

    def made(self) -> tuple[Json, tuple[Key, ...]]:
        for number, panel in enumerate(self.chart.panels):
            self._marks(number, [mark for mark in panel.marks if mark.kind in ("span", "onset")])
            for line in panel.lines:
                self._line(number, panel, line)
            self._marks(number, [mark for mark in panel.marks if mark.kind not in ("span", "onset")])
            for level in panel.levels:
                self._level(number, level)
        key = sorted(self.key.values(), key=lambda key: _ORDER.get(key.sign, 2))
        return {"data": self.traces, "layout": self._layout()}, tuple(key)

    def _line(self, number: int, panel: Panel, line: Line) -> None:
        colour = css(line.colour)
        if line.low is not None and line.high is not None:
            edge = self.store.points(
                np.concatenate([line.x, line.x[::-1]]), np.concatenate([line.low, line.high[::-1]])
            )
            self._curve(
                number,
                edge,
                line,
                width=0,
                opacity=line.opacity,
                fill="toself",
                fillcolor=colour,
                hoverinfo="skip",
            )
            is_short = int(np.isfinite(line.y).sum()) <= FEW and line.group is None and line.amounts is None
            self._curve(number, self.store.points(line.x, line.y), line, width=1.9, dots=is_short)
        else:
            points, smooth = self.store.hold(line)
            if smooth is None:
                self._curve(number, points, line, dots=int(np.isfinite(line.y).sum()) <= FEW)
            else:
                if line.raw:
                    self._curve(number, points, line, width=1, opacity=0.4 if line.group is None else 0.25)
                window = line.smooth[2] if line.smooth is not None else 0
                name = f"{line.name}, average of {count(window, 'point')}"
                self._curve(number, smooth, line, name if window else line.name, width=2.2)
                if line.group is None:
                    self.note("moving average", "thick", "ink")
        if line.group is not None and line.group < _GROUPS_NAMED:
            self.key.setdefault(f"{line.group} {line.name}", Key(line.name, "line", colour, line.group))
        elif len(panel.lines) > 1 and line.group is None:
            self.note(line.name, "line", line.colour)
        broken = broken_steps(line.x, line.y, 200 if line.group is None else 4)
        if broken.size:
            first = f"first at {self.chart.axis} {short(float(broken[0]))}"
            text = f"{line.name} is NaN or Inf at {count(line.broken, 'point')}, {first}."
            self._points(number, broken, None, [text] * broken.size, "x-thin", "alarm", line.group)
            self.note("NaN or Inf", "x-thin", "alarm")

    def _curve(self, number: int, points: int, line: Line, name: str = "", **looks: Any) -> None:
        colour = css(line.colour)
        dots, width = looks.pop("dots", False), looks.pop("width", 1.8)
        trace: Json = {
            "type": "scatter",
            "yaxis": _axis(2 * number + 2),
            "curve": points,
            "mode": "markers" if not line.joined else "lines+markers" if dots else "lines",
            "line": {"color": colour, "width": width, **({"dash": "dash"} if line.dashed else {})},
            "marker": {"size": 5, "color": colour},
            "opacity": looks.pop("opacity", 1),
            **looks,
        }
        if "fill" not in looks:
            label = chart_text(name or line.name)
            where = "%{text}" if self.chart.names else f"{self.chart.axis} %{{x:,}}"
            value = "%{y:.5~g}" if line.amounts is None else "%{customdata:.3~g}"
            trace["hovertemplate"] = f"{where}<br><b>{value}</b><extra>{label}</extra>"
            if self.chart.names:
                trace["text"] = [chart_text(self.chart.names[int(at)]) for at in line.x]
            if line.amounts is not None:
                trace["customdata"] = numbers(line.amounts)
        self.traces.append(trace if line.group is None else trace | {"meta": line.group})

    def _marks(self, number: int, marks: Sequence[Mark]) -> None:
        groups: dict[tuple[str, str, bool], list[Mark]] = {}
        for mark in marks:
            if mark.kind == "onset":
                self._upright(number, mark)
            elif mark.kind == "span" and mark.end is not None:
                self._band(number, mark, mark.end)
            else:
                groups.setdefault((mark.kind, mark.title, mark.height is not None), []).append(mark)
        for (kind, title, on_curve), group in groups.items():
            symbol, colour = _SIGNS.get(kind, ("triangle-up", "muted"))
            symbol = symbol if on_curve or kind in ("broken", "zero") else "triangle-up"
            heights = np.array([mark.height for mark in group], dtype=float) if on_curve else None
            steps = np.array([mark.step for mark in group])
            self._points(number, steps, heights, [mark.text or mark.title for mark in group], symbol, colour)
            self.note(title, symbol, colour)

    def _level(self, number: int, level: HorizontalLine) -> None:
        line = {"color": "var(--muted)", "width": 1.1, "dash": "dashdot"}
        place = {"x": list(self.chart.span), "y": [level.value] * 2, "yaxis": _axis(2 * number + 2)}
        self.traces.append({"type": "scatter", "mode": "lines", "line": line, "hoverinfo": "skip", **place})
        self.note(level.label, "dash", "muted")

    def _upright(self, number: int, mark: Mark) -> None:
        """A dashed line with points to hover over all along it."""
        heights = [round(0.05 * i, 2) for i in range(21)]
        line = {"color": "var(--alarm)", "width": 1.5, "dash": "dash"}
        self._mark(number, [mark.step] * len(heights), heights, [mark.text] * len(heights)).update(
            mode="lines", line=line
        )
        self.note(mark.title, "dash", "alarm")

    def _band(self, number: int, mark: Mark, end: float) -> None:
        """A stretch shaded over the height of a panel; hovering anywhere in it explains it."""
        start = mark.step
        self._mark(number, [start, end, end, start, start], [0, 0, 1, 1, 0], []).update(
            mode="lines",
            fill="toself",
            fillcolor="var(--span)",
            line={"width": 1, "color": "var(--span-edge)"},
            hoveron="fills",
            text=chart_text(mark.text, wrap=True),
        )
        self.note(mark.title, "band", "span-edge")

    def _points(
        self,
        number: int,
        steps: FloatArray,
        heights: FloatArray | None,
        texts: Sequence[str],
        symbol: str,
        colour: str,
        group: int | None = None,
    ) -> None:
        """Marks on a curve, or along the bottom of the panel when they have no height."""
        place = [0.035] * steps.size if heights is None else numbers(drawable(heights))
        trace = self._mark(number, numbers(steps), place, texts, on_curve=heights is not None)
        edge = {"color": css(colour), "width": 2}
        size = _SIZES.get(symbol, 7)
        trace.update(
            mode="markers", marker={"symbol": symbol, "size": size, "color": edge["color"], "line": edge}
        )
        if group is not None:
            trace["meta"] = group

    def _mark(
        self, number: int, x: Sequence[Any], y: Sequence[Any], texts: Sequence[str], *, on_curve: bool = False
    ) -> Json:
        axis = _axis(2 * number + (2 if on_curve else 1))
        trace: Json = {"type": "scatter", "yaxis": axis, "x": x, "y": y, "hoverinfo": "text"}
        wrapped = {text: chart_text(text, wrap=True) for text in set(texts)}
        if wrapped:
            trace["hovertext"] = wrapped[texts[0]] if len(wrapped) == 1 else [wrapped[text] for text in texts]
        self.traces.append(trace)
        return trace

    def note(self, name: str, sign: str, colour: str) -> None:
        self.key.setdefault(name, Key(name, sign, css(colour)))

    def _layout(self) -> Json:
        panels, span = self.chart.panels, self.chart.span
        heights = [_HIGH if number == 0 else _LOW for number in range(len(panels))]
        plot_height = sum(heights) + _GAP * (len(heights) - 1)
        room = 0.015 * (span[1] - span[0]) or 0.5
        layout: Json = {
            "height": plot_height + _TOP + _BOTTOM,
            "margin": {"l": 58, "r": 12, "t": _TOP, "b": _BOTTOM},
            "annotations": [],
            "xaxis": {
                "title": {"text": chart_text(self.chart.axis), "standoff": 4},
                "anchor": _axis(2 * len(panels)),
                "range": [span[0] - room, span[1] + room],
            },
        }
        if self.chart.names:
            self._name_places(layout)
        top = 1.0
        for number, (panel, height) in enumerate(zip(panels, heights, strict=True)):
            bare = {"domain": [max(0.0, top - height / plot_height), top], "fixedrange": True}
            layout["yaxis" + _axis(2 * number + 1)[1:]] = bare | {"range": [0, 1], "visible": False}
            value_axis = _value_axis(panel, 6 if number == 0 else 4) | {"overlaying": _axis(2 * number + 1)}
            layout["yaxis" + _axis(2 * number + 2)[1:]] = value_axis | {"domain": bare["domain"]}
            layout["annotations"].append(_TITLE | {"y": top, "text": f"<b>{chart_text(panel.title)}</b>"})
            top -= (height + _GAP) / plot_height
        return layout

    def _name_places(self, layout: Json) -> None:
        """Some of the places by name, turned where the names are long."""
        places = labelled_places(len(self.chart.names), _LABELS_ALONG)
        names = [chart_text(name) for name in layer_names([self.chart.names[int(at)] for at in places])]
        letters = max(map(len, names))
        turned = letters * len(names) > _LETTERS_ALONG
        layout["xaxis"] |= {
            "tickmode": "array",
            "tickvals": places.tolist(),
            "ticktext": names,
            "title": {"text": ""},
        }
        if turned:
            layout["xaxis"]["tickangle"] = 90
            layout["margin"]["b"] += 6 * letters
            layout["height"] += 6 * letters


def _value_axis(panel: Panel, ticks: int) -> Json:
    """`decades` is the range of positive values, else None; a flat axis has a fixed range."""
    values = panel.values
    positive = bool(values.size) and values.min() > 0
    decades = math.log10(values.max() / values.min()) if positive else None
    axis: Json = {"type": "linear", "decades": decades, "nticks": ticks, "tickmode": "auto", "side": "left"}
    ends = limits(values, logarithmic=panel.logarithmic)
    if panel.logarithmic:
        axis["type"] = "log"
        if panel.held is not None and ends is not None:
            axis["range"] = [math.log10(end) for end in ends]
    elif ends is not None and (panel.held is not None or ends[1] - ends[0] < 0.02 * max(map(abs, ends))):
        axis["range"] = list(ends)
    return axis


def _axis(number: int) -> str:
    return "y" if number == 1 else f"y{number}"
