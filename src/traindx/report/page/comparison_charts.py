"""Charts of a comparison as data for plotly.js: linked curves, and results over settings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.comparison import Comparison
from traindx.report.comparison_words import health
from traindx.report.curves import broken_steps, drawable, limits, thinned, wants_log
from traindx.report.page.figure import Figure, Json, chart_text, numbers
from traindx.report.page.parallel import far_end, parallel, plain_layout, scale_of
from traindx.report.side_by_side import SHARE, Line, SharedPanel, SideBySide, band
from traindx.report.text import short

if TYPE_CHECKING:
    from traindx.core.nouns import Axis, FloatArray

# Colours that do on light and on dark pages alike.
PALETTE = tuple("#3d85d9 #db6b12 #2e9560 #8a63c9 #c2518f #3c9ea3 #a07a3c #8b9321 #d1495b #7d8590".split())
_BEST, _MIDDLE, _WORST = (46, 149, 96), (125, 133, 144), (219, 107, 18)
DRAWN_MOST = 60
_POINTS_IN_ALL = 160_000
_POINTS_LEAST, _POINTS_MOST = 120, 2000
_LOG_FROM = 20.0


def colours(count: int) -> list[str]:
    """One for each configuration from best to worst: told apart while they are few, else a scale."""
    if count <= len(PALETTE):
        return list(PALETTE[:count])
    return [mixed(at / max(count - 1, 1)) for at in range(count)]


def mixed(share: float) -> str:
    """The colour of a place from 0 (best) to 1 (worst)."""
    first, last, at = (_BEST, _MIDDLE, 2 * share) if share < 0.5 else (_MIDDLE, _WORST, 2 * share - 1)
    parts = [round(a + (b - a) * at) for a, b in zip(first, last, strict=True)]
    return f"#{parts[0]:02x}{parts[1]:02x}{parts[2]:02x}"


class ComparisonCharts:
    """All charts of the page; the points of curves are held once."""

    def __init__(self, told: Comparison) -> None:
        self.told = told
        self.colours = colours(len(told.ranking))
        self.curves: list[Json] = []
        self.figures: list[Json] = []

    def json(self) -> Json:
        return {"curves": self.curves, "charts": self.figures}

    def linked(self) -> tuple[int, int] | None:
        """The curves of the configurations on one step axis: number and height; None without a curve."""
        drawn = self.told.ranking[:DRAWN_MOST]
        groups = {
            str(place): [self.told.runs[n].run for n in self.told.configurations[one.configuration].runs]
            for place, one in enumerate(drawn)
        }
        beside = SideBySide(groups)
        panels = beside.panels(6)
        if not panels:
            return None
        lines = sum(len(held) for panel in panels for held in panel.lines.values())
        limit = max(_POINTS_LEAST, min(_POINTS_MOST, _POINTS_IN_ALL // max(1, lines)))
        ends = [
            x for panel in panels for held in panel.lines.values() for line in held for x in line.x[[0, -1]]
        ]
        axis: Any = beside.axis
        figure = Figure(_axis_name(axis), (float(min(ends)), float(max(ends))))
        for number, panel in enumerate(panels):
            figure.add_panel(panel.title, panel.values, logarithmic=_logarithmic(panel))
            for group, held in panel.lines.items():
                self._draw(figure, number, int(group), held, limit)
        made = figure.json()
        for number, panel in enumerate(panels):
            self._hold(made["layout"][f"yaxis{2 * number + 2}"], panel)
        self.figures.append(made)
        return len(self.figures) - 1, int(made["layout"]["height"])

    @staticmethod
    def _hold(axis: Json, panel: SharedPanel) -> None:
        """Groups that run far away leave the picture; a double click shows them."""
        logarithmic = axis["type"] == "log"
        ends = limits(panel.values, logarithmic=logarithmic)
        values = panel.values
        if ends is None and values.size and values[0] != 0:  # a constant learning rate
            axis["range"] = sorted((0.5 * float(values[0]), 1.5 * float(values[0])))
            axis["type"] = "linear"
        elif panel.trimmed and ends is not None:
            axis["range"] = [math.log10(end) for end in ends] if logarithmic else list(ends)

    def _draw(self, figure: Figure, number: int, group: int, lines: Sequence[Line], limit: int) -> None:
        name = self.told.configurations[self.told.ranking[group].configuration].name
        for dashed in (False, True):
            same = [line for line in lines if line.dashed == dashed]
            together = band(same) if len(same) > 1 else None
            label = f"{name}, validation" if dashed else name
            if together is not None:
                xs = np.concatenate([together.x, together.x[::-1]])
                ys = np.concatenate([together.low, together.high[::-1]])
                self._trace(figure, number, group, (xs, ys), label, width=0, fill=True)
                self._trace(figure, number, group, (together.x, together.middle), label, dash=dashed)
                continue
            for line in same:
                if line.smooth is not None and len(self.colours) <= len(PALETTE):
                    raw = thinned(line.x, drawable(line.y), limit)
                    self._trace(figure, number, group, raw, label, width=0.8, opacity=0.25)
                self._trace(figure, number, group, thinned(*line.shown, limit), label, dash=dashed)
        for line in lines:
            gone = broken_steps(line.x, line.y, 4)
            if gone.size:
                figure.points(
                    number, gone, None, [f"{name} is NaN or Inf"] * gone.size, "", "x-thin", "alarm"
                )
                figure.traces[-1]["meta"] = group

    def _trace(
        self,
        figure: Figure,
        number: int,
        group: int,
        points: tuple[FloatArray, FloatArray],
        name: str,
        **looks: Any,
    ) -> None:
        self.curves.append({"x": numbers(points[0]), "y": numbers(drawable(points[1]))})
        few = int(np.isfinite(points[1]).sum()) <= 12 and not looks.get("fill")
        figure.curve(
            number,
            len(self.curves) - 1,
            name,
            "ink",
            dots=few,
            width=looks.get("width", 1.9),
            opacity=looks.get("opacity", 1),
        )
        trace = figure.traces[-1]
        trace["line"]["color"] = trace["marker"]["color"] = self.colours[group]
        trace["meta"] = group
        if looks.get("dash"):
            trace["line"]["dash"] = "dash"
        if looks.get("fill"):
            trace |= {
                "fill": "toself",
                "fillcolor": self.colours[group],
                "opacity": 0.16,
                "hoverinfo": "skip",
            }
            figure.traces[-1] = {key: value for key, value in trace.items() if key != "hovertemplate"}

    def scatter(self, setting: str) -> tuple[int, int] | None:
        """The result of every run over one numeric setting."""
        xs, ys, texts, shades, groups = [], [], [], [], []
        for place, one in enumerate(self.told.ranking):
            for number in self.told.configurations[one.configuration].runs:
                value, score = self.told.runs[number].number(setting), self.told.scores[number]
                if value is None or score is None or not score.final.known:
                    continue
                xs.append(value)
                ys.append(score.final.value)
                texts.append(self._hover(number))
                shades.append(self.colours[place])
                groups.append(place)
        if len(set(xs)) < 2:
            return None
        x, y = np.array(xs), np.array(ys)
        trace: Json = {
            "type": "scatter",
            "mode": "markers",
            "x": numbers(x),
            "y": numbers(drawable(y)),
            "hovertext": texts,
            "hoverinfo": "text",
            "customdata": groups,
            "marker": {"size": 8, "opacity": 0.85, "color": shades},
        }
        layout = plain_layout(300)
        layout["xaxis"] = {"title": {"text": chart_text(setting), "standoff": 4}, "type": scale_of(x)}
        layout["yaxis"] = {
            "title": {"text": chart_text(f"final {self.told.chosen.name}")},
            "type": scale_of(y),
        }
        end = far_end(y)
        if y.max() > end:  # what failed leaves the picture; a double click shows all
            low, high = float(y.min()), end
            room = 0.06 * (high - low)
            layout["yaxis"] |= {"type": "linear", "range": [low - room, high + room]}
        return self._place([trace], layout)

    def parallel(self) -> tuple[int, int] | None:
        """Every run as a line over its settings and its result."""
        made = parallel(self.told, self._hover, mixed)
        return None if made is None else self._place(*made)

    def _place(self, trace_list: list[Json], layout: Json) -> tuple[int, int]:
        self.figures.append({"data": trace_list, "layout": layout})
        return len(self.figures) - 1, int(layout["height"])

    def _hover(self, number: int) -> str:
        run, score = self.told.runs[number], self.told.scores[number]
        settings = [f"{one.key} = {one.values[number]}" for one in self.told.differing if one.counts][:8]
        final = "NaN" if score is None or not score.final.known else short(score.final.value)
        lines = [f"<b>{chart_text(run.name)}</b>", *map(chart_text, settings)]
        lines += [f"{chart_text(self.told.chosen.name)}: {final}", chart_text(health(self.told, number))]
        return "<br>".join(lines)


def _axis_name(axis: str) -> Axis:
    name: Any = axis if axis != SHARE else SHARE
    held: Axis = name
    return held


def _logarithmic(panel: SharedPanel) -> bool:
    values = panel.values
    if panel.metric == "lr":
        return bool(values.size and values.min() > 0 and values.max() > _LOG_FROM * values.min())
    return wants_log(panel.metric, values)
