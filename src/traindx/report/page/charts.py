"""The charts of one run: which curves, and where to look in them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from traindx.core.names import parts
from traindx.core.nouns import Finding, Problem, Series
from traindx.evidence.case import Case
from traindx.report.curves import (
    POINTS_MOST,
    Panel,
    broken_steps,
    drawable,
    finite_values,
    moving_average,
    panel_of,
    panels_for,
    placed,
    span,
    thinned,
    wants_log,
)
from traindx.report.marks import Mark, marks, value_at
from traindx.report.page.figure import Figure, Json, Key, numbers
from traindx.report.text import count, short

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_COLOURS = ("train", "val", "third")
_FEW = 60
_SIGNS = {"point": ("circle-open", "alarm"), "lr": ("diamond", "lr"), "best": ("star", "good")}
_ELSE = ("triangle-up", "muted")


@dataclass(frozen=True)
class Chart:
    """What the page needs to make room for a chart: its number, height, key and a description."""

    number: int
    height: int
    key: tuple[Key, ...]
    label: str


@dataclass(frozen=True)
class _Held:
    """Where the points of a curve and of its moving average stand in the page's data."""

    points: int
    few: bool
    smooth: int | None
    window: int


class Charts:
    """All charts of a run; curves that several of them show are held once."""

    def __init__(self, case: Case, limit: int = POINTS_MOST) -> None:
        self.case = case
        self.limit = limit
        self._curves: list[Json] = []
        self._figures: list[Json] = []
        self._held: dict[str, _Held] = {}

    def add(self, problem: Problem | None, signs: Sequence[Finding] = ()) -> Chart | None:
        """The curves that matter for a problem, marked; None when there is no curve."""
        findings = [*(problem.findings if problem else ()), *signs]
        panels = panels_for(self.case, findings)
        if not panels:
            return None
        found = marks(self.case, problem, signs)
        figure = Figure(self.case.run.axis, span(self.case))
        self._mark(figure, panels, (mark for mark in found if mark.kind in ("span", "onset")))
        for number, panel in enumerate(panels):
            self._draw(figure, number, panel)
        self._mark(figure, panels, (mark for mark in found if mark.kind not in ("span", "onset")))
        self._figures.append(figure.json())
        drawn = ", ".join(panel.title for panel in panels)
        onset = next((f" Onset at {short(m.step)}." for m in found if m.kind == "onset"), "")
        label = f"Chart of {drawn} over the {self.case.run.axis}s of the run.{onset}"
        height = int(self._figures[-1]["layout"]["height"])
        return Chart(len(self._figures) - 1, height, figure.sorted_key(), label)

    def place(self, figure: Json, key: tuple[Key, ...], label: str) -> Chart:
        """A chart that was made elsewhere."""
        self._figures.append(figure)
        return Chart(len(self._figures) - 1, int(figure["layout"]["height"]), key, label)

    def json(self) -> Json:
        return {"curves": self._curves, "charts": self._figures}

    def _draw(self, figure: Figure, number: int, panel: Panel) -> None:
        values = finite_values(panel.curves)
        figure.add_panel(panel.title, values, logarithmic=wants_log(panel.metric, values))
        for series, colour in zip(panel.curves, _COLOURS, strict=False):
            held = self._hold(series)
            key = series.name if len(panel.curves) > 1 else None
            if held.smooth is None:
                figure.curve(number, held.points, series.name, colour, dots=held.few, key=key)
            else:
                figure.curve(number, held.points, series.name, colour, width=1, opacity=0.4, key=key)
                name = f"{series.name}, average of {count(held.window, 'point')}"
                figure.curve(number, held.smooth, name, colour, width=2.2)
                figure.note("moving average", "thick", "ink")
            self._draw_broken(figure, number, series)

    def _draw_broken(self, figure: Figure, number: int, series: Series) -> None:
        gone = broken_steps(self._steps(series), series.values)
        if gone.size:
            broken = int((~np.isfinite(series.values)).sum())
            first = f"first at {self.case.run.axis} {short(float(gone[0]))}"
            text = f"{series.name} is NaN or Inf at {count(broken, 'point')}, {first}."
            figure.points(number, gone, None, [text] * gone.size, "NaN or Inf", "x-thin", "alarm")

    def _mark(self, figure: Figure, panels: Sequence[Panel], found: Iterable[Mark]) -> None:
        groups: dict[tuple[str, str, int, bool], list[tuple[Mark, float]]] = {}
        for mark in found:
            panel = panel_of(panels, mark.series)
            number = panels.index(panel) if panel is not None else 0
            if mark.kind == "onset":
                figure.upright(len(panels), mark.step, mark.title, mark.text)
            elif mark.series is not None and panel is None:
                continue
            elif mark.kind == "span" and mark.end is not None:
                figure.band(number, mark.step, mark.end, mark.title, mark.text)
            else:
                height = self._height(panel, mark)
                group = (mark.kind, mark.title, number, math.isfinite(height))
                groups.setdefault(group, []).append((mark, height))
        for (kind, title, number, on_curve), group_marks in groups.items():
            symbol, colour = _SIGNS.get(kind, _ELSE)
            figure.points(
                number,
                np.array([mark.step for mark, _ in group_marks]),
                np.array([height for _, height in group_marks]) if on_curve else None,
                [mark.text for mark, _ in group_marks],
                title,
                symbol if on_curve else "triangle-up",
                colour,
            )

    def _height(self, panel: Panel | None, mark: Mark) -> float:
        """Where on its curve a mark sits; not finite when it has none, or the curve is broken there."""
        if panel is None:
            return math.nan
        series = next((s for s in panel.curves if s.name == mark.series), panel.curves[0])
        return value_at(replace(series, steps=self._steps(series)), mark.step)

    def _steps(self, series: Series) -> FloatArray:
        return placed(self.case, series, series.steps)

    def _hold(self, series: Series) -> _Held:
        """The points of a curve and of its moving average, thinned the first time they are asked for."""
        if series.name not in self._held:
            steps = self._steps(series)
            points = self._add(*thinned(steps, series.values, self.limit))
            few = int(np.isfinite(series.values).sum()) <= _FEW
            plain = few or parts(series.name).metric == "lr"  # a schedule has corners, not noise
            average = None if plain else moving_average(steps, series.values)
            smooth = None if average is None else self._add(average[0], average[1])
            self._held[series.name] = _Held(points, few, smooth, average[2] if average else 0)
        return self._held[series.name]

    def _add(self, steps: FloatArray, values: FloatArray) -> int:
        self._curves.append({"x": numbers(steps), "y": numbers(drawable(values))})
        return len(self._curves) - 1
