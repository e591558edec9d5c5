"""A range test on the terminal: the curve, the range under it, where the current rate sits."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np

from traindx.experiment.lr_find.answer import RangeAnswer
from traindx.report.layout import Screen, wrapped
from traindx.report.lr_words import advice, headline, interval, rate, standing
from traindx.report.sparkline import sparkline
from traindx.report.text import count, visible

_WIDEST = 72
_MARGIN = 11


def render_range(found: RangeAnswer, name: str, screen: Screen, notes: Sequence[str] = ()) -> list[str]:
    """All lines."""
    tried = f"{count(found.ramps.seeds, 'seed')}, {count(found.ramps.steps, 'step')} each"
    lines = [screen.paint(visible(name, 60), "title") + f"  {tried}", ""]
    lines += [*_picture(found, screen), *_words(found, screen)]
    for note in notes:
        lines += [screen.paint(line, "dim") for line in wrapped(screen.plain(visible(note)), screen.width)]
    return lines


def _words(found: RangeAnswer, screen: Screen) -> Iterator[str]:
    style = "good" if found.found else "warning"
    first = headline(found)
    yield from (screen.paint(line, style) for line in wrapped(first[0].upper() + first[1:], screen.width))
    if found.found and found.low is not None and found.high is not None and found.edge is not None:
        ends = f"lower end {interval(found.low)}, upper end {interval(found.high)}"
        yield from _labelled("repeats", f"{ends} in nine of ten", screen)
        edge = f"{rate(found.edge.value)} ({interval(found.edge)})"
        yield from _labelled("stable up to", edge, screen)
    if found.current is not None:
        yield from _labelled("current", standing(found), screen)
    unit = "%" if found.relative else ""
    if found.curve is not None:
        drop, noise = (100 * found.drop, 100 * found.noise) if found.relative else (found.drop, found.noise)
        told = f"the loss fell by {drop:.3g} {unit}; single steps jitter by {noise:.2g} {unit}"
        yield from _labelled("measured", told.replace(" ;", ";").strip(), screen)
    if advice(found):
        yield from _labelled("next", advice(found), screen)


def _labelled(label: str, text: str, screen: Screen) -> Iterator[str]:
    lines = wrapped(screen.plain(text), screen.width - 16)
    for number, line in enumerate(lines):
        yield f"  {label if not number else '':<14}{line}"


def _picture(found: RangeAnswer, screen: Screen) -> Iterator[str]:
    if found.curve is None or found.ramps.steps < 2:
        return
    width = min(_WIDEST, screen.width - _MARGIN - 2)
    places = np.log(found.ramps.rates)
    start, end = float(places[0]), float(places[-1])
    drawn = sparkline(places, found.curve, start=start, end=end, width=width, unicode=screen.unicode)
    yield f"  {'loss':<{_MARGIN - 2}}{screen.paint(drawn, 'curve')}"
    if found.low is not None and found.high is not None and found.edge is not None:
        low, high, edge = (_column(e.value, start, end, width) for e in (found.low, found.high, found.edge))
        bar = [" "] * width
        bar[low : high + 1] = "=" * (high + 1 - low)
        bar[edge] = "|"
        yield f"  {'range':<{_MARGIN - 2}}{screen.paint(''.join(bar).rstrip(), 'good')}"
    if found.current is not None and start <= math.log(found.current) <= end:
        at = _column(found.current, start, end, width)
        yield f"  {'current':<{_MARGIN - 2}}{' ' * at}^"
    first, last = rate(float(found.ramps.rates[0])), rate(float(found.ramps.rates[-1]))
    yield f"  {'lr':<{_MARGIN - 2}}{first}{last:>{max(width - len(first), 1)}}"
    yield ""


def _column(value: float, start: float, end: float, width: int) -> int:
    share = (math.log(value) - start) / (end - start)
    return min(max(int(share * width), 0), width - 1)
