"""Charts of a comparison: the curves of its configurations, and results over settings."""

from __future__ import annotations

import numpy as np

from traindx.comparison.compare import Comparison
from traindx.report.charts import Curves, Ready
from traindx.report.comparison_words import health
from traindx.report.curves import drawable
from traindx.report.parallel import far_end, parallel, scale_of
from traindx.report.side_by_side import SideBySide, colours, mixed
from traindx.report.text import short
from traindx.report.to_plotly import Json, chart_text, numbers, plain_layout

DRAWN_MOST = 60


def linked(compared: Comparison) -> Curves | None:
    """The curves of the best configurations on one step axis."""
    return SideBySide(dict(list(compared.groups().items())[:DRAWN_MOST])).curves(6)


def scatter(compared: Comparison, setting: str) -> Ready | None:
    """The result of every run over one numeric setting."""
    shades = colours(len(compared.ranking))
    points = [
        (value, score.final.value, _hover(compared, number), shades[place], place)
        for place, placed in enumerate(compared.ranking)
        for number in compared.configurations[placed.configuration].runs
        if (value := compared.runs[number].number(setting)) is not None
        and (score := compared.scores[number]) is not None
        and score.final.known
    ]
    if len({value for value, *_ in points}) < 2:
        return None
    xs, ys, texts, tints, groups = zip(*points, strict=True)
    x, y = np.array(xs), np.array(ys)
    trace: Json = {
        "type": "scatter",
        "mode": "markers",
        "x": numbers(x),
        "y": numbers(drawable(y)),
        "hovertext": list(texts),
        "hoverinfo": "text",
        "customdata": list(groups),
        "marker": {"size": 8, "opacity": 0.85, "color": list(tints)},
    }
    layout = plain_layout(300)
    layout["xaxis"] = {"title": {"text": chart_text(setting), "standoff": 4}, "type": scale_of(x)}
    layout["yaxis"] = {"title": {"text": chart_text(f"final {compared.chosen.name}")}, "type": scale_of(y)}
    end = far_end(y)
    if y.max() > end:  # what failed leaves the picture; a double click shows all
        room = 0.06 * (end - float(y.min()))
        layout["yaxis"] |= {"type": "linear", "range": [float(y.min()) - room, end + room]}
    return Ready({"data": [trace], "layout": layout}, f"Result over {setting}")


def parallel_lines(compared: Comparison) -> Ready | None:
    """Every run as a line over its settings and its result."""
    figure = parallel(compared, lambda number: _hover(compared, number), mixed)
    if figure is None:
        return None
    label = "Parallel coordinates: settings and result of every run"
    return Ready({"data": figure[0], "layout": figure[1]}, label)


def _hover(compared: Comparison, number: int) -> str:
    run, score = compared.runs[number], compared.scores[number]
    settings = [
        f"{setting.key} = {setting.values[number]}" for setting in compared.differing if setting.counts
    ][:8]
    final = "NaN" if score is None or not score.final.known else short(score.final.value)
    lines = [f"<b>{chart_text(run.name)}</b>", *map(chart_text, settings)]
    lines += [f"{chart_text(compared.chosen.name)}: {final}", chart_text(health(compared, number))]
    return "<br>".join(lines)
