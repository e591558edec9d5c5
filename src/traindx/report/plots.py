"""The main curves of a run as one PNG: small multiples, train and validation together."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from traindx.core.nouns import Run, Series
from traindx.report.cells import span
from traindx.report.charts import CURVE_COLOURS, Curves, Line, Panel
from traindx.report.families import families
from traindx.report.panels import metric_of, panel
from traindx.report.to_png import Picture, file_name, write_picture

_PANELS_MOST = 9


def write_plots(runs: Iterable[Run], folder: Path) -> list[Path]:
    """One PNG per run; gives the paths written."""
    paths: list[Path] = []
    names = set[str]()
    for run in runs:
        panels = tuple(_panels(run)[:_PANELS_MOST])
        columns = min(len(panels), 3 if len(panels) > 4 else 2) or 1
        chart = Curves(panels, run.axis, span(run))
        paths.append(folder / file_name(run.name, names))
        picture = Picture(run.name, (chart,), "", (2.7,), columns, 4.4 * columns, "inside")
        write_picture(picture, paths[-1])
    return paths


def _panels(run: Run) -> list[Panel]:
    """Curves of one metric share a panel; the run's own order says which come first."""
    panels: dict[str, list[Series]] = {}
    filled = [series for series in run.series.values() if len(series)]
    if len(filled) > _PANELS_MOST:
        filled = [family.curve for family in families(filled)]
    for series in filled:
        if len(series) > 1 or len(run.series) == 1:
            panels.setdefault(metric_of(series.name), []).append(series)
    if not panels:
        panels = {name: [series] for name, series in run.series.items() if len(series)}
    return [panel(metric_of(name), _lines(members), metric_of(name)) for name, members in panels.items()]


def _lines(members: list[Series]) -> list[Line]:
    return [Line(s.name, s.steps, s.values, c, None) for s, c in zip(members, CURVE_COLOURS, strict=False)]
