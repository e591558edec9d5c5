"""A picture of panels above each other on one step axis, drawn curve by curve and mark by mark."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from traindx.core.nouns import Diagnosis, Problem
from traindx.evidence.case import Case
from traindx.report.curves import Panel, finite_values, moving_average, panel_of, placed, span, wants_log
from traindx.report.figures import ALARM, COLOURS, GOOD, MUTED, draw_curve, set_scale, set_steps
from traindx.report.marks import Mark, finding_marks, onset_mark, value_at
from traindx.report.text import count, visible
from traindx.report.titles import symptom_title
from traindx.report.wording import verdict_sentences, verdict_word

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from traindx.core.nouns import FloatArray, Series

_WIDTH = 9.6
_DPI = 120
_NAME, _VERDICT = 100, 150
_LOOKS: dict[str, dict[str, Any]] = {
    "best": {"marker": "*", "color": GOOD, "markersize": 12, "markeredgewidth": 0},
    "lr": {"marker": "D", "color": COLOURS[3], "markersize": 5},
    "point": {
        "marker": "o",
        "color": ALARM,
        "markersize": 8,
        "markerfacecolor": "none",
        "markeredgewidth": 1.6,
    },
}


def headed_figure(diagnosis: Diagnosis, height: float) -> Figure:
    """The run's name, and under it the verdict; the empty second line keeps its place free."""
    figure = Figure(figsize=(_WIDTH, height), dpi=_DPI, layout="constrained")
    name = diagnosis.run.name
    name = visible(name if len(name) <= _NAME else "…" + name[1 - _NAME :], _NAME)
    figure.suptitle(f"{name}\n", x=0.01, ha="left", fontsize=11, fontweight="bold")
    said = f"{verdict_word(diagnosis).capitalize()}: {verdict_sentences(diagnosis)[0]}"
    looks: dict[str, Any] = {"fontsize": 9, "color": MUTED, "va": "top", "in_layout": False}
    figure.text(0.01, 1 - 0.27 / height, visible(said, _VERDICT), **looks)
    return figure


class Sheet:
    """`heights` are those of its panels, in inches."""

    def __init__(self, diagnosis: Diagnosis, case: Case, heights: Sequence[float]) -> None:
        self.diagnosis = diagnosis
        self.case = case
        self.figure = headed_figure(diagnosis, sum(heights) + 0.9)
        grid = self.figure.add_gridspec(len(heights), 1, height_ratios=list(heights))
        self.axes: list[Axes] = []
        for number in range(len(heights)):
            self.axes.append(self.figure.add_subplot(grid[number], sharex=self.axes[0] if number else None))
        self._said = set[tuple[int, str]]()

    def draw(
        self,
        number: int,
        panel: Panel,
        *,
        title: str | None = None,
        average: bool = True,
        logarithmic: bool | None = None,
    ) -> None:
        """The curves of a panel, faint under their moving average where there is one."""
        axes = self.axes[number]
        broken = 0
        for series, colour in zip(panel.curves, COLOURS, strict=False):
            steps = self._steps(series)
            smooth = moving_average(steps, series.values) if average else None
            name = visible(series.name, 40)
            faint = {"alpha": 0.35, "linewidth": 0.8, "marker": None} if smooth else {}
            draw_curve(axes, steps, series.values, colour, label=None if smooth else name, **faint)
            if smooth:
                label = f"{name}, moving average of {count(smooth[2], 'point')}"
                axes.plot(smooth[0], smooth[1], color=colour, linewidth=1.9, label=label)
            broken += int((~np.isfinite(series.values)).sum())
        if broken:
            label = f"{count(broken, 'value')} NaN or Inf"
            axes.plot([], [], "x", color=ALARM, markersize=5, label=label)
        axes.set_title(visible(title or panel.title, 60))
        values = finite_values(panel.curves)
        wished = wants_log(panel.metric, values) if logarithmic is None else logarithmic
        set_scale(axes, values, logarithmic=bool(wished and values.size and values.min() > 0))

    def mark(self, number: int, panel: Panel, *, onsets_only: bool = False) -> None:
        """Where the problems seen on a panel's curves began, their stretches and their points."""
        for problem in self.diagnosis.problems:
            if not self._concerns(problem, panel):
                continue
            onset = onset_mark(self.case, problem)
            if onset is not None:
                self._line(number, onset, f"onset: {symptom_title(problem.symptom)}")
            for finding in problem.findings:
                if onsets_only or panel_of([panel], finding.series) is None:
                    continue
                for mark in finding_marks(self.case, finding):
                    if mark.kind == "span":
                        self._stretch(number, mark)
                    elif onset is None or mark.step != onset.step:
                        self.point(number, panel, mark)

    def point(self, number: int, panel: Panel, mark: Mark) -> None:
        """A mark on the curve it was seen on; nothing where the curve is broken, which shows anyhow."""
        series = next((s for s in panel.curves if s.name == mark.series), panel.curves[0])
        height = value_at(replace(series, steps=self._steps(series)), mark.step)
        if math.isfinite(height):
            label = self._once(number, visible(mark.title, 40))
            looks = _LOOKS.get(mark.kind, _LOOKS["point"])
            self.axes[number].plot([mark.step], [height], linestyle="", label=label, zorder=5, **looks)

    def finish(self) -> Figure:
        """The step axis, and the key of all panels below them."""
        for axes in self.axes:
            set_steps(axes, span(self.case), self.case.run.axis if axes is self.axes[-1] else None)
            axes.label_outer()
        listed = {
            text: line for a in self.axes for line, text in zip(*a.get_legend_handles_labels(), strict=True)
        }
        if listed:
            self.figure.legend(listed.values(), listed.keys(), loc="outside lower left", ncols=4)
        return self.figure

    def _concerns(self, problem: Problem, panel: Panel) -> bool:
        """Whether a problem was seen on a panel, or on no curve at all."""
        named = [finding.series for finding in problem.findings if finding.series is not None]
        return not named or any(panel_of([panel], name) is not None for name in named)

    def _line(self, number: int, mark: Mark, label: str) -> None:
        said = self._once(number, label)
        self.axes[number].axvline(mark.step, color=ALARM, linewidth=1.2, linestyle="--", label=said)

    def _stretch(self, number: int, mark: Mark) -> None:
        if mark.end is not None:
            label = self._once(number, visible(mark.title, 40))
            self.axes[number].axvspan(
                mark.step, mark.end, color=COLOURS[1], alpha=0.1, linewidth=0, label=label
            )

    def _once(self, number: int, label: str) -> str | None:
        """The label the first time it is used on a panel."""
        if (number, label) in self._said:
            return None
        self._said.add((number, label))
        return label

    def _steps(self, series: Series) -> FloatArray:
        return placed(self.case, series, series.steps)
