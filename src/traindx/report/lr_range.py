"""A learning-rate range test as text and picture: the curve, the range, where the current rate lies."""

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
from traindx.report.text import count, short
from traindx.report.to_png import Picture, write_picture
from traindx.report.to_terminal import INDENT, lines

_WIDEST = 72
_LOG_FROM = 5.0
_ABOVE = 3.0  # diverged losses would flatten all that matters


def render_range(found: RangeAnswer, name: str, screen: Screen, notes: Sequence[str] = ()) -> list[str]:
    return lines(
        [*_blocks(found, name, screen), *(Text(Span(note, "muted"), "whole") for note in notes)], screen
    )


def _blocks(found: RangeAnswer, name: str, screen: Screen) -> Iterator[Block]:
    yield Text(
        f"{name[:60]}  {count(found.ramps.seeds, 'seed')}, {count(found.ramps.steps, 'step')} each", "title"
    )
    yield Preformatted((("", ""), *_drawn(found, screen), ("", "")))
    first = headline(found)
    yield Text(Span(first[0].upper() + first[1:], look="good" if found.found else "warning"), "whole")
    if found.found and found.low is not None and found.high is not None and found.edge is not None:
        ends = f"lower end {interval(found.low)}, upper end {interval(found.high)}"
        yield Labelled("repeats", f"{ends} in nine of ten")
        yield Labelled("stable", f"up to {rate(found.edge.value)} ({interval(found.edge)})")
    if found.current is not None:
        yield Labelled("current", standing(found))
    if found.curve is not None:
        scale, unit = (100, " %") if found.relative else (1, "")
        fell, noise = f"{scale * found.drop:.3g}{unit}", f"{scale * found.noise:.2g}{unit}"
        yield Labelled("measured", f"the loss fell by {fell}; single steps jitter by {noise}")
    if advice(found):
        yield Labelled("next", advice(found), "bold")


def _drawn(found: RangeAnswer, screen: Screen) -> Iterator[tuple[str, str]]:
    """The curve as a sparkline, the range, the current rate and the axis below it."""
    if found.curve is None or found.ramps.steps < 2:
        return
    width = min(_WIDEST, screen.width - INDENT - 2)
    places = np.log(found.ramps.rates)
    start, end = float(places[0]), float(places[-1])

    def column(value: float) -> int:
        return min(max(int((math.log(value) - start) / (end - start) * width), 0), width - 1)

    loss = sparkline(places, found.curve, start=start, end=end, width=width, unicode=screen.unicode)
    yield f"  {'loss':<10}{loss}", "curve"
    if found.low is not None and found.high is not None and found.edge is not None:
        low, high, edge = (column(one.value) for one in (found.low, found.high, found.edge))
        bar = [" "] * width
        bar[low : high + 1] = "=" * (high + 1 - low)
        bar[edge] = "|"
        yield f"  {'range':<10}{''.join(bar).rstrip()}", "good"
    if found.current is not None and start <= math.log(found.current) <= end:
        yield f"  {'current':<10}{' ' * column(found.current)}^", ""
    first, last = rate(float(found.ramps.rates[0])), rate(float(found.ramps.rates[-1]))
    yield f"  {'lr':<10}{first}{last:>{max(width - len(first), 1)}}", ""


def write_range_plot(found: RangeAnswer, path: Path, *, name: str = "") -> None:
    """`lr_find.png`: the loss of every seed over the rate, the curve through them, the range and its ends."""
    current = f"; current {standing(found)}" if standing(found) else ""
    rates = found.ramps.rates
    span = (float(rates[0]), float(rates[-1]))
    chart = Curves((_panel(found),), f"learning rate{current}", span, logarithmic=True)
    title = f"{name[:40]}: {headline(found)}" if name else headline(found)
    write_picture(Picture(title, (chart,), "", (3.9,), 1, 8.6, "inside"), path)


def _panel(found: RangeAnswer) -> Panel:
    ramps = found.ramps
    label = f"{ramps.seeds} seeds, {ramps.steps} steps each"
    drawn = [Line(label, ramps.rates, row, "rest", None) for row in ramps.losses]
    if found.curve is not None:
        drawn.append(Line("fall and rise, fitted", ramps.rates, found.curve, "train", None))
    known = ramps.losses[np.isfinite(ramps.losses)]
    held = known
    logarithmic = False
    if known.size > 1:
        start, low = float(np.nanmedian(ramps.losses[:, : ramps.start_steps])), float(known.min())
        held = known[known <= start + (_ABOVE - 1.0) * max(start - low, 0.1 * abs(start))]
        logarithmic = low > 0 and start > _LOG_FROM * low
        if limits(held, logarithmic=logarithmic) is None:
            held = np.array([start - 1.0, start + 1.0])
    return Panel("loss", "training loss", tuple(drawn), tuple(_marks(found)), logarithmic, held)


def _marks(found: RangeAnswer) -> Iterator[Mark]:
    rates = found.ramps.rates
    if found.low is not None and found.high is not None:
        label = f"suggested: {rate(found.low.value)} to {rate(found.high.value)}"
        yield Mark("span", found.low.value, label, end=found.high.value, colour="good")
    if found.edge is not None:
        yield Mark("onset", found.edge.value, f"largest stable rate: {rate(found.edge.value)}")
        high = min(found.edge.high, float(rates[-1]))
        yield Mark(
            "span",
            found.edge.low,
            f"between {short(found.edge.low)} and {short(high)} in nine of ten",
            end=high,
            colour="alarm",
        )
    if found.current is not None and rates[0] <= found.current <= rates[-1]:
        yield Mark("upright", found.current, f"current: {rate(found.current)}", colour="ink")
