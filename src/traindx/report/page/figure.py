"""Interactive charts as plain data that plotly.js draws. Colours are names of the page's CSS variables.

Text from logs goes through `chart_text`: plotly reads a small HTML of its own.
"""

from __future__ import annotations

import html
import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from traindx.core.nouns import Axis
from traindx.report.curves import drawable, limits
from traindx.report.text import visible

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

Json = dict[str, Any]
_HIGH, _LOW, _GAP = 260, 120, 32
_TOP, _BOTTOM = 24, 44
_TITLE_PLACE = {
    "x": 0,
    "xref": "paper",
    "yref": "paper",
    "xanchor": "left",
    "yanchor": "bottom",
    "showarrow": False,
}
_HOVER_WIDTH = 54
_SIZES = {"star": 12, "circle-open": 10, "diamond": 8}


@dataclass(frozen=True)
class Key:
    """One line of the key beside a chart: `sign` is what it looks like."""

    name: str
    sign: str
    colour: str


@dataclass(frozen=True)
class _Panel:
    """`decades` is what its values span, None when they are not all positive; `ends` hold a flat axis."""

    title: str
    logarithmic: bool
    decades: float | None
    ends: tuple[float, float] | None

    def axis(self, ticks: int) -> Json:
        kind = "log" if self.logarithmic else "linear"
        told: Json = {
            "type": kind,
            "decades": self.decades,
            "nticks": ticks,
            "tickmode": "auto",
            "side": "left",
        }
        return told if self.ends is None else told | {"range": self.ends}


class Figure:
    """Panels above each other on one step axis.

    Each panel has two y axes: a hidden one from 0 to 1 for marks, and over it the curve's own.
    """

    def __init__(self, axis: Axis, span: tuple[float, float]) -> None:
        self.axis = axis
        self.span = span
        self.traces: list[Json] = []
        self.panels: list[_Panel] = []
        self.key: dict[str, Key] = {}

    def add_panel(self, title: str, values: FloatArray, *, logarithmic: bool) -> None:
        """`values` are all that will be drawn in it."""
        positive = bool(values.size) and values.min() > 0
        decades = math.log10(values.max() / values.min()) if positive else None
        ends = limits(values, logarithmic=False)
        flat = ends is not None and ends[1] - ends[0] < 0.02 * max(map(abs, ends))
        self.panels.append(_Panel(title, logarithmic, decades, ends if flat and not logarithmic else None))

    def curve(self, panel: int, points: int, name: str, colour: str, **looks: Any) -> None:
        """A curve; `points` is its number among those the page holds."""
        line = {"color": f"var(--{colour})", "width": looks.get("width", 1.8)}
        reading = f"{self.axis} %{{x:,}}<br><b>%{{y:.5~g}}</b><extra>{chart_text(name)}</extra>"
        self.traces.append(
            {
                "type": "scatter",
                "yaxis": _axis(2 * panel + 2),
                "curve": points,
                "mode": "lines+markers" if looks.get("dots") else "lines",
                "line": line,
                "marker": {"size": 5, "color": line["color"]},
                "opacity": looks.get("opacity", 1),
                "hovertemplate": reading,
            }
        )
        if key := looks.get("key"):
            self.note(key, "line", colour)

    def upright(self, panels: int, step: float, name: str, text: str) -> None:
        """A dashed line through all panels, with points to hover over all along it."""
        heights = [round(0.05 * i, 2) for i in range(21)]
        for panel in range(panels):
            self._mark(panel, [step] * len(heights), heights, [text] * len(heights)).update(
                mode="lines", line={"color": "var(--alarm)", "width": 1.5, "dash": "dash"}
            )
        self.note(name, "dash", "alarm")

    def band(self, panel: int, start: float, end: float, name: str, text: str) -> None:
        """A stretch shaded over the height of a panel; hovering anywhere in it explains it."""
        self._mark(panel, [start, end, end, start, start], [0, 0, 1, 1, 0], []).update(
            mode="lines",
            fill="toself",
            fillcolor="var(--span)",
            line={"width": 1, "color": "var(--span-edge)"},
            hoveron="fills",
            text=chart_text(text, wrap=True),
        )
        self.note(name, "band", "span-edge")

    def points(
        self,
        panel: int,
        steps: FloatArray,
        heights: FloatArray | None,
        texts: Sequence[str],
        name: str,
        symbol: str,
        colour: str,
    ) -> None:
        """Marks on a curve, or along the bottom of the panel when they have no height."""
        place = [0.035] * steps.size if heights is None else numbers(drawable(heights))
        trace = self._mark(panel, numbers(steps), place, texts, on_curve=heights is not None)
        edge = {"color": f"var(--{colour})", "width": 2}
        size = _SIZES.get(symbol, 7)
        trace.update(
            mode="markers", marker={"symbol": symbol, "size": size, "color": edge["color"], "line": edge}
        )
        self.note(name, symbol, colour)

    def json(self) -> Json:
        heights = [_HIGH if number == 0 else _LOW for number in range(len(self.panels))]
        drawn = sum(heights) + _GAP * (len(heights) - 1)
        room = 0.015 * (self.span[1] - self.span[0]) or 0.5
        layout: Json = {
            "height": drawn + _TOP + _BOTTOM,
            "margin": {"l": 58, "r": 12, "t": _TOP, "b": _BOTTOM},
            "annotations": [],
            "xaxis": {
                "title": {"text": self.axis, "standoff": 4},
                "anchor": _axis(2 * len(self.panels)),
                "range": [self.span[0] - room, self.span[1] + room],
            },
        }
        top = 1.0
        for number, (panel, height) in enumerate(zip(self.panels, heights, strict=True)):
            bare = {"domain": [max(0.0, top - height / drawn), top], "fixedrange": True}
            layout["yaxis" + _axis(2 * number + 1)[1:]] = bare | {"range": [0, 1], "visible": False}
            own = panel.axis(6 if number == 0 else 4) | {"overlaying": _axis(2 * number + 1)}
            layout["yaxis" + _axis(2 * number + 2)[1:]] = own | {"domain": bare["domain"]}
            layout["annotations"].append(
                _TITLE_PLACE | {"y": top, "text": f"<b>{chart_text(panel.title)}</b>"}
            )
            top -= (height + _GAP) / drawn
        return {"data": self.traces, "layout": layout}

    def sorted_key(self) -> tuple[Key, ...]:
        """Curves first, then marks."""
        order = {"line": 0, "thick": 1}
        return tuple(sorted(self.key.values(), key=lambda key: order.get(key.sign, 2)))

    def _mark(
        self, panel: int, x: Sequence[Any], y: Sequence[Any], texts: Sequence[str], *, on_curve: bool = False
    ) -> Json:
        trace: Json = {
            "type": "scatter",
            "yaxis": _axis(2 * panel + (2 if on_curve else 1)),
            "x": x,
            "y": y,
            "hoverinfo": "text",
        }
        wrapped = {text: chart_text(text, wrap=True) for text in set(texts)}
        if wrapped:
            trace["hovertext"] = wrapped[texts[0]] if len(wrapped) == 1 else [wrapped[text] for text in texts]
        self.traces.append(trace)
        return trace

    def note(self, name: str, sign: str, colour: str) -> None:
        self.key.setdefault(name, Key(name, sign, colour))


def numbers(values: FloatArray) -> list[float | int | None]:
    """Six digits are more than a screen shows; what is not finite is left out."""
    held = [float(f"{value:.6g}") if math.isfinite(value) else None for value in values.tolist()]
    return [int(v) if v is not None and abs(v) < 1e6 and v == int(v) else v for v in held]


def chart_text(text: str, *, wrap: bool = False) -> str:
    """Text that plotly shows as it is; long text in lines."""
    lines = textwrap.wrap(visible(text, 600), _HOVER_WIDTH) if wrap else [visible(text, 60)]
    return "<br>".join(html.escape(line, quote=False).replace("%{", "%&#123;") for line in lines)


def _axis(number: int) -> str:
    return "y" if number == 1 else f"y{number}"
