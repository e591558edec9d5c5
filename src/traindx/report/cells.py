"""What stands in the cells of the tables: a curve's ends, best point, trouble and shape."""

from __future__ import annotations

from collections.abc import Iterable

from traindx.core.names import parts
from traindx.core.nouns import Run, Series
from traindx.report.layout import Screen
from traindx.report.sparkline import sparkline
from traindx.report.summary import Summary, summarize
from traindx.report.text import short, visible


def ends(summary: Summary, width: int) -> str:
    first = f"{short(summary.first):>{width}}"
    return f"{first} → {short(summary.last)}" if summary.points > 1 else first


def span(run: Run) -> tuple[float, float]:
    """The first and the last step of any of its series."""
    filled = [series for series in run.series.values() if len(series)]
    return min(float(s.steps[0]) for s in filled), max(float(s.steps[-1]) for s in filled)


def curve(series: Series, steps: tuple[float, float], screen: Screen, width: int) -> str:
    """The sparkline of a series over the steps of its run."""
    return sparkline(
        series.steps,
        series.values,
        start=steps[0],
        end=steps[1],
        width=width,
        logarithmic=parts(series.name).metric != "lr",
        unicode=screen.unicode,
    )


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
    source = visible(series.source) if series.source != series.name else ""
    return f"{source} ({visible(series.derived)})".strip() if series.derived else source
