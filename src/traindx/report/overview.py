"""Many runs at a glance: one line each."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.core.nouns import Run
from traindx.report.cells import broken_points, curve, ends, span
from traindx.report.layout import Column, Screen, table, without_empty
from traindx.report.summary import main_series, summarize
from traindx.report.text import count, short, visible


def overview(runs: Sequence[Run], screen: Screen) -> list[str]:
    columns = [
        Column("run", least=26, keep="end", style="bold"),
        Column("last", "right"),
        Column("curve", least=0),
        Column("first → last"),
        Column("NaN/Inf", "right", style="red"),
        Column("", style="curve"),
        Column("series", "right", least=0),
        Column("format", least=0),
    ]
    rows = []
    for run in runs:
        main = main_series(run)
        if main is None:
            continue
        summary = summarize(main)
        broken = sum(broken_points(series) for series in run.series.values())
        rows.append(
            [
                visible(run.name, 300),
                f"{run.axis} {short(run.last_step)}",
                visible(main.name, 16),
                ends(summary, 0),
                f"{broken:,}" if broken else "",
                curve(main, span(run), screen, 12),
                f"{len(run.series):,}",
                visible("+".join(run.formats)),
            ]
        )
    lines = table(*without_empty(columns, rows), screen)
    return [screen.paint(count(len(runs), "run"), "bold"), "", *lines]
