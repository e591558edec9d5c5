"""The contents of table cells: the ends, the best point, the NaN and Inf, and the shape of a curve."""

from __future__ import annotations

from collections.abc import Iterable

from traindx.core.names import parts
from traindx.core.nouns import Run, Series
from traindx.report.document import Sparkline
from traindx.report.summary import Summary, main_series, summarize
from traindx.report.text import short


def ends(summary: Summary, width: int) -> str:
    first = f"{short(summary.first):>{width}}"
    return f"{first} → {short(summary.last)}" if summary.points > 1 else first


def span(run: Run) -> tuple[float, float]:
    """The first and the last step of any of its series."""
    filled = [series for series in run.series.values() if len(series)]
    return min(float(s.steps[0]) for s in filled), max(float(s.steps[-1]) for s in filled)


def sparkline_of(series: Series, steps: tuple[float, float], width: int) -> Sparkline:
    """A series over the steps of its run."""
    return Sparkline(series.steps, series.values, steps, width, parts(series.name).metric != "lr")


def curve(run: Run, width: int) -> Sparkline | None:
    """The main curve of the run."""
    main = main_series(run)
    return None if main is None else sparkline_of(main, span(run), width)


def best(summary: Summary) -> str:
    if summary.best is None or summary.best_step is None or summary.points < 2:
        return ""
    return f"{short(summary.best)} at {short(summary.best_step)}"


def broken_points(series: Series) -> int:
    summary = summarize(series) if len(series) else None
    return summary.nans + summary.infs if summary else 0


def not_finite(members: Iterable[Series]) -> str:
    """How many values of all these series are NaN or Inf."""
    summaries = [summarize(series) for series in members]
    nans, infs = sum(s.nans for s in summaries), sum(s.infs for s in summaries)
    parts = [f"{nans:,} NaN"] if nans else []
    return " ".join([*parts, f"{infs:,} Inf"] if infs else parts)


def written(series: Series) -> str:
    source = series.source if series.source != series.name else ""
    return f"{source} ({series.derived})".strip() if series.derived else source
