"""The curves of a problem as one small SVG picture for notebooks.

It is shown as an image, because notebooks that are opened again drop drawings and style sheets from what
they show. So its colours must do on light and on dark pages alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.names import parts
from traindx.core.nouns import Finding, Problem, Series
from traindx.evidence.case import Case
from traindx.report.curves import (
    Panel,
    broken_steps,
    drawable,
    finite_values,
    limits,
    moving_average,
    panel_of,
    panels_for,
    placed,
    span,
    thinned,
    wants_log,
)
from traindx.report.marks import Mark, marks, value_at
from traindx.report.page.markup import Html, escaped, tag
from traindx.report.text import short
from traindx.report.ticks import decades, nice_ticks

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

BLUE, ORANGE, GREEN, RED, GREY = "#3d85d9", "#db6b12", "#2e9560", "#e0474c", "#7d8590"
_CURVES = (BLUE, ORANGE, GREEN)
_WIDTH, _LEFT, _RIGHT = 720, 58, 14
_TOP, _FOOT, _FIRST, _OTHERS = 22, 22, 150, 84
_PANELS_MOST = 2
_POINTS = 600
_NAME = 40
_FONT = "system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif"


@dataclass(frozen=True)
class Picture:
    """The drawing, its size, and what it shows in words."""

    svg: str
    width: int
    height: int
    text: str


@dataclass(frozen=True)
class _Place:
    """Where a panel stands on the picture, and how its values become heights."""

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


def picture(case: Case, problem: Problem | None, signs: Sequence[Finding] = ()) -> Picture | None:
    """The main curves of a run with what was seen on them; None when there is no curve."""
    panels = panels_for(case, [*(problem.findings if problem else ()), *signs], _PANELS_MOST)
    if not panels:
        return None
    found = marks(case, problem, signs)
    drawn: list[Html] = []
    top = 0
    place = None
    for number, panel in enumerate(panels):
        height = _OTHERS if number else _FIRST
        place = _place(case, panel, top + _TOP, height)
        drawn += _panel(case, panel, panels, place, found)
        top += _TOP + height + 8
    height = top + _FOOT - 8
    if place is not None:
        drawn += _step_axis(case, place, height - 6)
    body = tag(
        "svg",
        *drawn,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        width=_WIDTH,
        height=height,
        font_family=_FONT,
        font_size="12",
        fill=GREY,
    )
    return Picture(str(body), _WIDTH, height, _told(case, panels, found))


def _told(case: Case, panels: Sequence[Panel], found: Sequence[Mark]) -> str:
    names = ", ".join(series.name for panel in panels for series in panel.curves)
    onset = next((f"; onset at {short(mark.step)}" for mark in found if mark.kind == "onset"), "")
    return f"{names} over the {case.run.axis}s of the run{onset}"


def _place(case: Case, panel: Panel, top: int, height: int) -> _Place:
    values = finite_values(panel.curves)
    logarithmic = wants_log(panel.metric, values)
    ends = limits(values, logarithmic=logarithmic)
    if ends is None:
        middle = float(values[0]) if values.size else 0.0
        ends = (middle - (abs(middle) or 1.0), middle + (abs(middle) or 1.0))
    return _Place(top, height, span(case), ends, logarithmic)


def _panel(
    case: Case, panel: Panel, panels: Sequence[Panel], place: _Place, found: Sequence[Mark]
) -> list[Html]:
    inside = [mark for mark in found if panel_of(panels, mark.series) is panel]
    onsets = [mark for mark in found if mark.kind == "onset"]
    drawn = [*_value_axis(place), *(_band(mark, place) for mark in inside if mark.kind == "span")]
    key: list[tuple[str, str]] = []
    for series, colour in zip(panel.curves, _CURVES, strict=False):
        drawn += _curve(case, series, place, colour)
        key.append((series.name, colour))
    if any(not np.isfinite(series.values).all() for series in panel.curves):
        key.append(("✕ NaN or Inf", RED))
    drawn += [_upright(mark, place) for mark in onsets]
    for mark in inside:
        if mark.kind in ("point", "best") and (ring := _ring(case, panel, mark, place)):
            drawn.append(ring)
            key.append((f"○ {mark.title}", GREEN if mark.kind == "best" else RED))
    if onsets and panel is panels[0]:
        key.append(("┆ onset", RED))
    return [*drawn, _key(dict.fromkeys(key), place)]


def _curve(case: Case, series: Series, place: _Place, colour: str) -> list[Html]:
    """Faint under its moving average where there is one; a cross at the foot where it is broken."""
    steps = placed(case, series, series.steps)
    few = int(np.isfinite(series.values).sum()) < 2
    plain = parts(series.name).metric == "lr"  # a schedule has corners, not noise
    smooth = None if plain else moving_average(steps, series.values)
    thin = {"stroke_width": "1", "opacity": "0.45"} if smooth else {"stroke_width": "1.8"}
    xs, ys = thinned(steps, drawable(series.values), _POINTS)
    drawn = [_line(xs, ys, place, colour, dots=few, **thin)]
    if smooth:
        drawn.append(_line(smooth[0], smooth[1], place, colour, stroke_width="2"))
    gone = place.x(broken_steps(steps, series.values, 60))
    foot = place.top + place.height - 5
    crosses = "".join(f"M{x - 3:.1f} {foot - 3}l6 6m0 -6l-6 6" for x in gone.tolist())
    return [*drawn, tag("path", d=crosses, stroke=RED, stroke_width="1.5", fill="none")] if crosses else drawn


def _line(
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
    return tag(
        "rect",
        x=f"{left:.1f}",
        y=place.top,
        width=f"{max(right - left, 1):.1f}",
        height=place.height,
        fill=ORANGE,
        opacity="0.12",
    )


def _upright(mark: Mark, place: _Place) -> Html:
    x = float(place.x(np.array([mark.step]))[0])
    line = f"M{x:.1f} {place.top}v{place.height}"
    return tag("path", d=line, stroke=RED, stroke_width="1.3", stroke_dasharray="4 3", fill="none")


def _ring(case: Case, panel: Panel, mark: Mark, place: _Place) -> Html | None:
    series = next((one for one in panel.curves if one.name == mark.series), panel.curves[0])
    value = value_at(replace(series, steps=placed(case, series, series.steps)), mark.step)
    if not math.isfinite(value) or (place.logarithmic and value <= 0):
        return None
    x, y = float(place.x(np.array([mark.step]))[0]), float(place.y(np.array([value]))[0])
    colour = GREEN if mark.kind == "best" else RED
    looks = {"stroke": colour, "stroke_width": "1.6", "fill": "none"}
    return tag("circle", cx=f"{x:.1f}", cy=f"{y:.1f}", r="4.5", **looks)


def _key(entries: dict[tuple[str, str], None], place: _Place) -> Html:
    """The names of the curves and marks, each in its colour, above the panel."""
    shown = [tag("tspan", escaped(_cut(name)), fill=colour, dx="12") for name, colour in list(entries)[:6]]
    return tag("text", *shown, x=_LEFT - 12, y=place.top - 8, font_weight="600")


def _cut(name: str) -> str:
    return name if len(name) <= _NAME else name[: _NAME - 1] + "…"


def _value_axis(place: _Place) -> list[Html]:
    ticks = decades(*place.ends) if place.logarithmic else nice_ticks(*place.ends, most=5)
    drawn = []
    for tick in ticks:
        y = float(place.y(np.array([tick]))[0])
        line = f"M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}"
        drawn += [
            tag("path", d=line, stroke=GREY, stroke_width="0.6", opacity="0.4"),
            tag("text", short(tick), x=_LEFT - 6, y=f"{y + 4:.1f}", text_anchor="end"),
        ]
    return drawn


def _step_axis(case: Case, place: _Place, foot: int) -> list[Html]:
    ticks = nice_ticks(*place.steps, most=7)
    xs = place.x(np.array(ticks)).tolist()
    texts = [
        tag("text", short(tick), x=f"{x:.1f}", y=foot, text_anchor="middle")
        for tick, x in zip(ticks, xs, strict=True)
        if x < _WIDTH - 60
    ]
    return [*texts, tag("text", case.run.axis, x=_WIDTH - _RIGHT, y=foot, text_anchor="end")]
