"""Which curves of a run are drawn together, and the marks on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from traindx.core.names import parts
from traindx.core.nouns import Finding, Problem, Series
from traindx.evidence.case import Case
from traindx.report.charts import CURVE_COLOURS, Curves, Line, Mark, Panel
from traindx.report.curves import moving_average, wants_log
from traindx.report.marks import marks, placed
from traindx.report.summary import main_series
from traindx.report.text import short

_TITLES = {"lr": "learning rate", "grad_norm": "gradient norm", "step_s": "seconds per step"}


def metric_of(name: str) -> str:
    """What a series measures, whatever split it comes from: `val/loss/ce` -> `loss/ce`."""
    name_parts = parts(name)
    return "/".join(word for word in (name_parts.metric, name_parts.part) if word)


def title_of(metric: str) -> str:
    return _TITLES.get(metric, metric)


def panel(metric: str, lines: Sequence[Line], title: str = "") -> Panel:
    """Curves of one metric, on the scale that suits them."""
    curves = Panel(metric, title or title_of(metric), tuple(lines))
    return replace(curves, logarithmic=wants_log(metric, curves.values))


def line(case: Case, series: Series, number: int = 0) -> Line:
    """A series on the run's own axis. A schedule has corners, not noise."""
    smoother = None if parts(series.name).metric == "lr" else moving_average
    steps = placed(case, series, series.steps)
    return Line(series.name, steps, series.values, CURVE_COLOURS[number], smoother)


def _panel(case: Case, metric: str, curves: Iterable[Series]) -> Panel:
    return panel(metric, [line(case, series, number) for number, series in enumerate(curves)])


def main_panels(case: Case) -> list[Panel]:
    """The loss with its validation, the learning rate, the gradient norm: those that were logged."""
    losses = [curve.series for curve in (case.loss, case.val_loss) if curve is not None]
    if losses:
        panels = [_panel(case, "loss", losses)]
    else:
        main = main_series(case.run)
        panels = [] if main is None else [_like(case, main.name)]
    for curve in (case.lr, case.grad_norm):
        if curve is not None and not any(curve.name in panel.names for panel in panels):
            panels.append(_panel(case, metric_of(curve.name), [curve.series]))
    return panels


def panels_for(case: Case, findings: Sequence[Finding], most: int = 6) -> list[Panel]:
    """The main panels and those of every curve a finding names; what all findings name comes first."""
    panels = main_panels(case)
    series_names = {f.series: None for f in findings if f.series is not None and f.series in case.run.series}
    unplotted = [name for name in series_names if not any(_shows(panel, name) for panel in panels)]
    extra: list[Panel] = []
    for name in unplotted:
        if not any(name in panel.names for panel in extra):
            extra.append(_like(case, name))
    if extra and len(unplotted) == len(series_names):
        return (extra + panels[:1])[:most]
    return (panels + extra)[:most]


def panels_like(case: Case, names: Sequence[str]) -> list[Panel]:
    """A panel for each metric of the named curves, with the same metric on other data."""
    panels: list[Panel] = []
    for name in names:
        if panel_of(panels, name) is None:
            panels.append(_like(case, name))
    return panels


def panel_of(panels: Iterable[Panel], name: str | None) -> Panel | None:
    """The panel in which a series, or another scope or split of it, is drawn."""
    return next((panel for panel in panels if name is not None and _shows(panel, name)), None)


def _shows(panel: Panel, name: str) -> bool:
    return name in panel.names or metric_of(name) == panel.metric


def _like(case: Case, name: str) -> Panel:
    """The curve with those of the same metric on other data."""
    metric, scope = metric_of(name), parts(name).scope
    members = [
        series
        for series in case.run.series.values()
        if len(series) and metric_of(series.name) == metric and parts(series.name).scope == scope
    ]
    return _panel(case, metric, sorted(members, key=lambda series: parts(series.name).split != "")[:3])


def span(case: Case) -> tuple[float, float]:
    """The first and the last step of any curve, on the run's axis."""
    ends = [placed(case, s, s.steps[[0, -1]]) for s in case.run.series.values() if len(s)]
    return (min(float(e[0]) for e in ends), max(float(e[1]) for e in ends)) if ends else (0.0, 1.0)


def marked(panels: Sequence[Panel], marks: Sequence[Mark]) -> list[Panel]:
    """The panels with each mark on its own; the onset goes through all of them."""
    marks_of_panels: list[list[Mark]] = [[] for _ in panels]
    for mark in marks:
        target = panel_of(panels, mark.series)
        if mark.kind == "onset":
            for panel_marks in marks_of_panels:
                panel_marks.append(mark)
        elif target is not None or (mark.series is None and panels):
            at = panels.index(target) if target is not None else 0
            height = panels[at].height_of(mark)
            marks_of_panels[at].append(replace(mark, height=height if math.isfinite(height) else None))
    return [
        replace(panel, marks=tuple(panel_marks))
        for panel, panel_marks in zip(panels, marks_of_panels, strict=True)
    ]


def curves_of(
    case: Case, problem: Problem | None, signs: Sequence[Finding] = (), most: int = 6
) -> Curves | None:
    """The curves of a problem with its marks; None when there is no curve."""
    if case.inside.checked and all(len(series) < 2 for series in case.run.series.values()):
        return None
    panels = panels_for(case, [*(problem.findings if problem else ()), *signs], most)
    if not panels:
        return None
    chart_marks = marks(case, problem, signs)
    names = ", ".join(name for panel in panels for name in sorted(panel.names))
    onset = next((f"; onset at {short(mark.step)}" for mark in chart_marks if mark.kind == "onset"), "")
    label = f"{names} over the {case.run.axis}s of the run{onset}"
    return Curves(tuple(marked(panels, chart_marks)), case.run.axis, span(case), label)
