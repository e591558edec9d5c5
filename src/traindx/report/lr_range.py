"""A learning-rate range test as text and picture: the curve, the range, where the current one is."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from traindx.experiment.lr_find.answer import RangeAnswer
from traindx.report.charts import Curves, Line, Mark, Panel
from traindx.report.curves import limits
from traindx.report.document import Block, Labelled, Preformatted, Span, Text
from traindx.report.layout import Screen
from traindx.report.lr_words import advice, headline, interval, rate, standing
from traindx.report.sparkline import sparkline
from traindx.report.text import capitalised, count, short
from traindx.report.to_png import Picture, write_picture
from traindx.report.to_terminal import INDENT, lines

_WIDEST = 72
_LOG_FROM = 5.0
_ABOVE = 3.0  # diverged losses would flatten all that matters


def render_range(answer: RangeAnswer, name: str, screen: Screen, notes: Sequence[str] = ()) -> list[str]:
    return lines(
        [*_blocks(answer, name, screen), *(Text(Span(note, "muted"), "whole") for note in notes)], screen
    )


def _blocks(answer: RangeAnswer, name: str, screen: Screen) -> Iterator[Block]:
    yield Text(
        f"{name[:60]}  {count(answer.ramps.seeds, 'seed')}, {count(answer.ramps.steps, 'step')} each", "title"
    )
    yield Preformatted((("", ""), *_curve_lines(answer, screen), ("", "")))
    yield Text(Span(capitalised(headline(answer)), look="good" if answer.found else "warning"), "whole")
    if answer.found and answer.low is not None and answer.high is not None and answer.edge is not None:
        ends = f"lower end {interval(answer.low)}, upper end {interval(answer.high)}"
        yield Labelled("repeats", f"{ends} in nine of ten")
        yield Labelled("stable", f"up to {rate(answer.edge.value)} ({interval(answer.edge)})")
    if answer.current is not None:
        yield Labelled("current", standing(answer))
    if answer.curve is not None:
        scale, unit = (100, " %") if answer.relative else (1, "")
        fell, noise = f"{scale * answer.drop:.3g}{unit}", f"{scale * answer.noise:.2g}{unit}"
        yield Labelled("measured", f"the loss fell by {fell}; single steps jitter by {noise}")
    if advice(answer):
        yield Labelled("next", advice(answer), "bold")


def _curve_lines(answer: RangeAnswer, screen: Screen) -> Iterator[tuple[str, str]]:
    """The curve as a sparkline, the range, the current rate and the axis below it."""
    if answer.curve is None or answer.ramps.steps < 2:
        return
    width = min(_WIDEST, screen.width - INDENT - 2)
    places = np.log(answer.ramps.rates)
    start, end = float(places[0]), float(places[-1])

    def column(value: float) -> int:
        return min(max(int((math.log(value) - start) / (end - start) * width), 0), width - 1)

    loss = sparkline(places, answer.curve, start=start, end=end, width=width, unicode=screen.unicode)
    yield f"  {'loss':<10}{loss}", "curve"
    if answer.low is not None and answer.high is not None and answer.edge is not None:
        low, high, edge = (column(estimate.value) for estimate in (answer.low, answer.high, answer.edge))
        bar = [" "] * width
        bar[low : high + 1] = "=" * (high + 1 - low)
        bar[edge] = "|"
        yield f"  {'range':<10}{''.join(bar).rstrip()}", "good"
    if answer.current is not None and start <= math.log(answer.current) <= end:
        yield f"  {'current':<10}{' ' * column(answer.current)}^", ""
    first, last = rate(float(answer.ramps.rates[0])), rate(float(answer.ramps.rates[-1]))
    yield f"  {'lr':<10}{first}{last:>{max(width - len(first), 1)}}", ""


def write_range_plot(answer: RangeAnswer, path: Path, *, name: str = "") -> None:
    """`lr_find.png`: the loss of every seed over the rate, the curve through them, the range and its ends."""
    current = f"; current {standing(answer)}" if standing(answer) else ""
    rates = answer.ramps.rates
    span = (float(rates[0]), float(rates[-1]))
    chart = Curves((_panel(answer),), f"learning rate{current}", span, logarithmic=True)
    title = f"{name[:40]}: {headline(answer)}" if name else headline(answer)
    write_picture(Picture(title, (chart,), "", (3.9,), 1, 8.6, "inside"), path)


def _panel(answer: RangeAnswer) -> Panel:
    ramps = answer.ramps
    label = f"{ramps.seeds} seeds, {ramps.steps} steps each"
    lines_of_seeds = [Line(label, ramps.rates, row, "rest", None) for row in ramps.losses]
    if answer.curve is not None:
        lines_of_seeds.append(Line("fall and rise, fitted", ramps.rates, answer.curve, "train", None))
    finite = ramps.losses[np.isfinite(ramps.losses)]
    inside = finite
    logarithmic = False
    if finite.size > 1:
        start, low = float(np.nanmedian(ramps.losses[:, : ramps.start_steps])), float(finite.min())
        inside = finite[finite <= start + (_ABOVE - 1.0) * max(start - low, 0.1 * abs(start))]
        logarithmic = low > 0 and start > _LOG_FROM * low
        if limits(inside, logarithmic=logarithmic) is None:
            inside = np.array([start - 1.0, start + 1.0])
    return Panel("loss", "training loss", tuple(lines_of_seeds), tuple(_marks(answer)), logarithmic, inside)


def _marks(answer: RangeAnswer) -> Iterator[Mark]:
    rates = answer.ramps.rates
    if answer.low is not None and answer.high is not None:
        label = f"suggested: {rate(answer.low.value)} to {rate(answer.high.value)}"
        yield Mark("span", answer.low.value, label, end=answer.high.value, colour="good")
    if answer.edge is not None:
        yield Mark("onset", answer.edge.value, f"largest stable rate: {rate(answer.edge.value)}")
        high = min(answer.edge.high, float(rates[-1]))
        yield Mark(
            "span",
            answer.edge.low,
            f"between {short(answer.edge.low)} and {short(high)} in nine of ten",
            end=high,
            colour="alarm",
        )
    if answer.current is not None and rates[0] <= answer.current <= rates[-1]:
        yield Mark("upright", answer.current, f"current: {rate(answer.current)}", colour="ink")
