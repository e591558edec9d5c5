"""Parallel coordinates from plain lines: the ready-made kind needs programs that the page forbids."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from traindx.comparison.compare import Comparison
from traindx.comparison.differing import Differing
from traindx.report.text import short
from traindx.report.to_plotly import Json, chart_text, plain_layout

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

_DIMENSIONS_MOST = 7
_CLASSES = 10
_LOG_FROM = 20.0


def parallel(
    compared: Comparison, hover: Callable[[int], str], colour: Callable[[float], str]
) -> tuple[list[Json], Json] | None:
    """Traces and layout: each run a line over its settings and its result; the best are drawn last."""
    changing = _dimensions(compared)
    if not changing:
        return None
    finals = [None if s is None or not s.final.known else repr(s.final.value) for s in compared.scores]
    columns = [*(setting.values for setting in changing), tuple(finals)]
    scales = [*(_Dimension(values) for values in columns[:-1]), _Dimension(columns[-1], clipped=True)]
    order = [n for placed in compared.ranking for n in compared.configurations[placed.configuration].runs]
    traces: list[Json] = []
    size = max(1, -(-len(order) // _CLASSES))
    for start in reversed(range(0, len(order), size)):
        xs: list[float | None] = []
        ys: list[float | None] = []
        texts: list[str] = []
        for number in order[start : start + size]:
            ys += [*(s.place(values[number]) for s, values in zip(scales, columns, strict=True)), None]
            xs += [*range(len(scales)), None]
            texts += [hover(number)] * (len(scales) + 1)
        shade = colour(start / max(len(order) - 1, 1))
        traces.append(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "x": xs,
                "y": ys,
                "hovertext": texts,
                "hoverinfo": "text",
                "line": {"width": 1.3, "color": shade},
                "marker": {"size": 4, "color": shade},
                "opacity": 0.75 if start == 0 else 0.45,
            }
        )
    names = [*(setting.key for setting in changing), f"final {compared.chosen.name}"]
    return traces, _layout(names, scales)


def _dimensions(compared: Comparison) -> list[Differing]:
    """The settings that matter most, first."""
    changing = [setting for setting in compared.differing if setting.counts]
    if compared.sweep is not None:
        order = {effect.setting: at for at, effect in enumerate(compared.sweep.effects)}
        changing.sort(key=lambda setting: order.get(setting.key, len(order)))
    return changing[:_DIMENSIONS_MOST]


def _layout(names: Sequence[str], scales: Sequence[_Dimension]) -> Json:
    layout = plain_layout(340)
    layout["margin"] |= {"l": 40, "r": 60, "b": 34, "t": 16}
    layout["xaxis"] = {
        "tickvals": list(range(len(names))),
        "ticktext": [chart_text(name) for name in names],
        "range": [-0.15, len(names) - 0.7],
        "showgrid": True,
        "fixedrange": True,
    }
    layout["yaxis"] = {"visible": False, "range": [-0.06, 1.08], "fixedrange": True}
    layout["annotations"] = [label for at, scale in enumerate(scales) for label in scale.labels(at)]
    return layout


class _Dimension:
    """The positions of a setting's values on its axis: by size if they are numbers, else evenly spaced.

    With `clipped`, values far beyond the others are drawn at its end, or all others would fall together.
    """

    def __init__(self, values: Sequence[str | None], *, clipped: bool = False) -> None:
        logged = [value for value in values if value is not None]
        self.words = list(dict.fromkeys(logged))
        try:
            self.numbers: FloatArray | None = np.array([float(value) for value in self.words])
        except ValueError:
            self.numbers = None
        if self.numbers is not None and not np.isfinite(self.numbers).all():
            self.numbers = None
        self.log = False
        self.low, self.high = 0.0, 1.0
        if self.numbers is not None and self.numbers.size:
            if clipped:
                self.numbers = np.minimum(self.numbers, far_end(self.numbers))
            self.log = scale_of(self.numbers) == "log"
            placed = np.log(self.numbers) if self.log else self.numbers
            self.low, self.high = float(placed.min()), float(placed.max())

    def place(self, value: str | None) -> float | None:
        if value is None or value not in self.words:
            return None
        if self.numbers is None:
            return round(self.words.index(value) / max(1, len(self.words) - 1), 4)
        number = math.log(float(value)) if self.log else float(value)
        return round(min((number - self.low) / ((self.high - self.low) or 1.0), 1.0), 4)

    def labels(self, at: int) -> list[Json]:
        if not self.words:
            return []
        words = self.words
        if self.numbers is not None:
            ordered = sorted(self.words, key=float)
            heights = np.linspace(0.0, 1.0, min(5, len(ordered)))
            places = np.array([self.place(word) for word in ordered])
            words = list(dict.fromkeys(ordered[int(np.abs(places - at).argmin())] for at in heights))
        elif len(words) > 8:
            words = words[:: -(-len(words) // 8)]
        return [
            {
                "x": at,
                "y": self.place(word),
                "xref": "x",
                "yref": "y",
                "xanchor": "left",
                "showarrow": False,
                "xshift": 7,
                "text": chart_text(short(float(word)) if self.numbers is not None else word[:18]),
            }
            for word in words
        ]


def far_end(values: FloatArray) -> float:
    """Where an axis ends: values beyond the usual range by three times its width leave it."""
    low, high = (float(value) for value in np.quantile(values, (0.25, 0.75)))
    return max(high + 3.0 * (high - low), float(values.min()))


def scale_of(values: FloatArray) -> str:
    """Logarithmic where positive values span more than a decade or so."""
    return "log" if values.size and values.min() > 0 and values.max() > _LOG_FROM * values.min() else "linear"
