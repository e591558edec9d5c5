"""Curves as one small SVG picture for notebooks.

It is shown as an image, because notebooks that are opened again drop drawings and style sheets from what
they show. So its colours must do on light and on dark pages alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.report.charts import Curves, Line, Mark, Panel
from traindx.report.curves import broken_steps, drawable, limits, thinned
from traindx.report.page.markup import Html, escaped, tag
from traindx.report.text import short
from traindx.report.ticks import decades, nice_ticks

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_BLUE, _ORANGE, _GREEN, _RED, _GREY = "#3d85d9", "#db6b12", "#2e9560", "#e0474c", "#7d8590"
_COLOURS = {"train": _BLUE, "val": _ORANGE, "third": _GREEN, "lr": "#8a63c9"}
_WIDTH, _LEFT, _RIGHT = 720, 58, 14
_TOP, _FOOT, _FIRST, _OTHERS = 22, 22, 150, 84
_PANELS_MOST = 2
_POINTS = 600
_NAME = 40
_FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class _Place:
    """The position of a panel in the picture, and the mapping from its values to heights."""

    top: int
    height: int
    steps: tuple[float, float]
    ends: tuple[float, float]
    logarithmic: bool

    def x(self, steps: FloatArray) -> FloatArray:
        first, last = self.steps
        placed: FloatArray = _LEFT + (steps - first) / ((last - first) or 1.0) * (_WIDTH - _LEFT - _RIGHT)
        return placed

    def y(self, values: FloatArray) -> FloatArray:
        low, high = np.log10(self.ends) if self.logarithmic else self.ends
        scaled = np.log10(values) if self.logarithmic else values
        heights: FloatArray = self.top + self.height * (1 - (scaled - low) / ((high - low) or 1.0))
        return heights


def svg(curves: Curves) -> tuple[str, int, int]:
    """The drawing of the first panels, its width and its height."""
    panels = curves.panels[:_PANELS_MOST]
    elements: list[Html] = []
    top = 0
    place = _Place(0, 0, curves.span, (0.0, 1.0), False)
    for number, panel in enumerate(panels):
        height = _OTHERS if number else _FIRST
        place = _place(curves, panel, top + _TOP, height)
        elements += _panel(panel, place, first=number == 0)
        top += _TOP + height + 8
    height = top + _FOOT - 8
    elements += _step_axis(curves.axis, place, height - 6)
    size = {"width": _WIDTH, "height": height, "viewBox": f"0 0 {_WIDTH} {height}"}
    space = "http://www.w3.org/2000/svg"
    body = tag("svg", *elements, xmlns=space, font_family=_FONT, font_size="12", fill=_GREY, **size)
    return str(body), _WIDTH, height


def _place(curves: Curves, panel: Panel, top: int, height: int) -> _Place:
    values = panel.values
    ends = limits(values, logarithmic=panel.logarithmic)
    if ends is None:
        middle = float(values[0]) if values.size else 0.0
        ends = (middle - (abs(middle) or 1.0), middle + (abs(middle) or 1.0))
    return _Place(top, height, curves.span, ends, panel.logarithmic)


def _panel(panel: Panel, place: _Place, *, first: bool) -> list[Html]:
    elements = [*_value_axis(place), *(_band(mark, place) for mark in panel.marks if mark.kind == "span")]
    key: list[tuple[str, str]] = []
    for line in panel.lines:
        colour = _COLOURS.get(line.colour, _BLUE)
        elements += _curve(line, place, colour)
        key.append((line.name, colour))
    if panel.broken:
        key.append(("✕ NaN or Inf", _RED))
    onsets = [mark for mark in panel.marks if mark.kind == "onset"]
    elements += [_upright(mark, place) for mark in onsets]
    for mark in panel.marks:
        if mark.kind in ("point", "best") and (ring := _ring(mark, place)):
            elements.append(ring)
            key.append((f"○ {mark.title}", _GREEN if mark.kind == "best" else _RED))
    if onsets and first:
        key.append(("┆ onset", _RED))
    return [*elements, _key(dict.fromkeys(key), place)]


def _curve(line: Line, place: _Place, colour: str) -> list[Html]:
    """Faint under its moving average where there is one; a cross at the foot where it is broken."""
    is_single = int(np.isfinite(line.y).sum()) < 2
    thin = {"stroke_width": "1", "opacity": "0.45"} if line.smooth else {"stroke_width": "1.8"}
    xs, ys = thinned(line.x, drawable(line.y), _POINTS)
    elements = [_path(xs, ys, place, colour, dots=is_single, **thin)]
    if line.smooth:
        elements.append(_path(*line.smooth[:2], place, colour, stroke_width="2"))
    broken = place.x(broken_steps(line.x, line.y, 60))
    foot = place.top + place.height - 5
    crosses = "".join(f"M{x - 3:.1f} {foot - 3}l6 6m0 -6l-6 6" for x in broken.tolist())
    return (
        [*elements, tag("path", d=crosses, stroke=_RED, stroke_width="1.5", fill="none")]
        if crosses
        else elements
    )


def _path(
    steps: FloatArray, values: FloatArray, place: _Place, colour: str, *, dots: bool = False, **looks: str
) -> Html:
    """A broken line: it is lifted where a value is missing."""
    whole = np.isfinite(values) & ((values > 0) | (not place.logarithmic))
    xs, ys = place.x(steps), place.y(np.where(whole, values, 1.0))
    moves, down = [], False
    for x, y, there in zip(xs.tolist(), ys.tolist(), whole.tolist(), strict=True):
        if there:
            moves.append(f"{'L' if down else 'M'}{x:.1f} {y:.1f}" + ("h0.1" if dots else ""))
        down = there
    cap = {"stroke_linecap": "round", "stroke_width": "6"} if dots else looks
    return tag("path", d="".join(moves), stroke=colour, fill="none", stroke_linejoin="round", **cap)


def _band(mark: Mark, place: _Place) -> Html:
    left, right = place.x(np.array([mark.step, mark.end if mark.end is not None else mark.step])).tolist()
    size = {"width": f"{max(right - left, 1):.1f}", "height": place.height}
    return tag("rect", x=f"{left:.1f}", y=place.top, fill=_ORANGE, opacity="0.12", **size)


def _upright(mark: Mark, place: _Place) -> Html:
    x = float(place.x(np.array([mark.step]))[0])
    line = f"M{x:.1f} {place.top}v{place.height}"
    return tag("path", d=line, stroke=_RED, stroke_width="1.3", stroke_dasharray="4 3", fill="none")


def _ring(mark: Mark, place: _Place) -> Html | None:
    if mark.height is None or (place.logarithmic and mark.height <= 0):
        return None
    x, y = float(place.x(np.array([mark.step]))[0]), float(place.y(np.array([mark.height]))[0])
    looks = {"stroke": _GREEN if mark.kind == "best" else _RED, "stroke_width": "1.6", "fill": "none"}
    return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4.5", **looks)


def _key(entries: dict[tuple[str, str], None], place: _Place) -> Html:
    """The names of the curves and marks, each in its colour, above the panel."""
    names = [(name if len(name) <= _NAME else name[: _NAME - 1] + "…", colour) for name, colour in entries]
    labels = [tag("tspan", escaped(name), fill=colour, dx="12") for name, colour in names[:6]]
    return tag("text", *labels, x=_LEFT - 12, y=place.top - 8, font_weight="600")


def _value_axis(place: _Place) -> list[Html]:
    ticks = decades(*place.ends) if place.logarithmic else nice_ticks(*place.ends, most=5)
    elements = []
    for tick in ticks:
        y = float(place.y(np.array([tick]))[0])
        line = f"M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"
        elements += [
            tag("path", d=line, stroke=_GREY, stroke_width="0.6", opacity="0.4"),
            tag("text", short(tick), x=_LEFT - 6, y=f"{y + 4:.1f}", text_anchor="end"),
        ]
    return elements


def _step_axis(axis: str, place: _Place, foot: int) -> list[Html]:
    ticks = nice_ticks(*place.steps, most=7)
    texts = [
        tag("text", short(tick), x=f"{x:.1f}", y=foot, text_anchor="middle")
        for tick, x in zip(ticks, place.x(np.array(ticks)).tolist(), strict=True)
        if x < _WIDTH - 60
    ]
    return [*texts, tag("text", axis, x=_WIDTH - _RIGHT, y=foot, text_anchor="end")]
