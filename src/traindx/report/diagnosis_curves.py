"""The curves of a problem above each other, the onset marked below them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from traindx.core.names import parts
from traindx.core.nouns import Axis, Problem, Run, Series
from traindx.report.cells import ends
from traindx.report.labelled import cut
from traindx.report.layout import Screen, cells
from traindx.report.sparkline import sparkline
from traindx.report.summary import main_series, summarize
from traindx.report.text import short, visible

_CURVES_MOST = 4
_MARKS_MOST = 3
_WIDTH_MOST = 64
_NAME_LEAST, _NAME_MOST = 8, 22


def telling(problem: Problem, run: Run) -> list[Series]:
    """The curves on which the problem and the evidence for its first cause were seen."""
    names = [finding.series for finding in problem.findings]
    if problem.hypotheses:
        names += [item.series for item in problem.hypotheses[0].evidence]
    known = [name for name in names if name is not None and name in run.series]
    chosen = [pair for name in known for pair in (_training(name, run), name) if pair is not None]
    curves = [run.series[name] for name in dict.fromkeys(chosen) if len(run.series[name])]
    return curves[:_CURVES_MOST] or main_curves(run)


def _training(name: str, run: Run) -> str | None:
    """The training curve that a validation curve is to be held against."""
    if not name.startswith(("val/", "test/")):
        return None
    metric = name.partition("/")[2].partition("@")[0]
    return next((other for other in run.series if other.partition("@")[0] == metric), None)


def main_curves(run: Run) -> list[Series]:
    """The curve that stands for the run, and its like on validation data."""
    main = main_series(run)
    if main is None:
        return []
    other = run.series.get(f"val/{main.name}")
    return [main, other] if other is not None and len(other) else [main]


def steps_of(problem: Problem, run: Run) -> list[float]:
    """Where the problem began, then where the strongest evidence for its first cause was seen."""
    steps = [problem.onset_step]
    for item in problem.hypotheses[0].evidence if problem.hypotheses else ():
        series = run.series.get(item.series or "")
        if item.bits > 0 and (series is None or series.axis == run.axis):
            steps.append(item.step)
    return [step for step in steps if step is not None and math.isfinite(step)][:_MARKS_MOST]


def draw(shown: Sequence[Series], marked: Sequence[float], run: Run, screen: Screen) -> Iterator[str]:
    """One line per curve, its ends beside it; below them marks at the given steps."""
    if not shown:
        return
    names = [visible(series.name, 60) for series in shown]
    named = min(max(_NAME_LEAST, *map(len, names)), _NAME_MOST)
    summaries = [summarize(series) for series in shown]
    firsts = max(len(short(summary.first)) for summary in summaries)
    beside = [screen.plain(ends(summary, firsts)) for summary in summaries]
    width = min(_WIDTH_MOST, screen.width - 2 - named - 2 - 2 - max(map(len, beside)))
    for series, name, text in zip(shown, names, beside, strict=True):
        start, end = _span(series.axis, run)
        line = sparkline(
            series.steps,
            series.values,
            start=start,
            end=end,
            width=width,
            logarithmic=parts(series.name).metric != "lr",
            unicode=screen.unicode,
        )
        label = screen.paint(_padded(cut(name, named, screen), named), "dim")
        yield f"  {label}  {screen.paint(line, 'curve')}  {text}"
    marks = _marks(marked, run, width)
    if marks:
        yield " " * (4 + named) + screen.paint(screen.plain(marks), "red")


def _padded(text: str, width: int) -> str:
    return text + " " * (width - cells(text))


def _span(axis: Axis, run: Run) -> tuple[float, float]:
    """Over the steps of all curves counted alike, so that they stand under each other."""
    alike = [series for series in run.series.values() if len(series) and series.axis == axis]
    if not alike:
        return 0.0, 0.0
    return min(float(s.steps[0]) for s in alike), max(float(s.steps[-1]) for s in alike)


def _marks(steps: Sequence[float], run: Run, width: int) -> str:
    """An arrow and its step under each place; what would run into an earlier one is left out."""
    start, end = _span(run.axis, run)
    line = [" "] * width
    for number, step in enumerate(steps):
        if not start <= step <= end or start == end:
            continue
        column = min(int((step - start) * ((width - 1e-9) / (end - start))), width - 1)
        text = f"{run.axis} {short(step)}" if number == 0 else short(step)
        mark = f"▲ {text}" if column + 2 + len(text) <= width else f"{text} ▲"
        first = column if mark.startswith("▲") else column + 1 - len(mark)
        if first >= 0 and not "".join(line[max(first - 2, 0) : first + len(mark) + 2]).strip():
            line[first : first + len(mark)] = mark
    return "".join(line).rstrip()
