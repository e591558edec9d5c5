"""The differential of a problem on a terminal: ranked causes, what weighs on them, what to do."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from traindx.core.nouns import Evidence, Fix, Hypothesis, Problem, Run
from traindx.report.labelled import INDENT, bullets, cut, hanging, label, labelled
from traindx.report.layout import Screen
from traindx.report.place_words import kind_of_line, patch_lines, place_text
from traindx.report.text import count, short, visible
from traindx.report.titles import finding_title
from traindx.report.wording import at_step, bits, percent

_CAUSES_SHOWN = 3
_ALTERNATIVE_FROM = 0.05
_FOR_SHOWN = 5
_AGAINST_SHOWN = 2
_AVOID_SHOWN = 2
_PATCH_SHOWN = 24
_PATCH_STYLES = {"add": "green", "remove": "red", "head": "dim"}
_BAR, _BAR_NARROW, _NARROW = 20, 10, 80


def differential(problem: Problem, run: Run, everything: bool, screen: Screen) -> Iterator[str]:
    """The causes with their bars; then the first in full, the next in short, or all in full."""
    yield from _ranking(problem, everything, screen)
    told = problem.hypotheses if everything else problem.hypotheses[:_CAUSES_SHOWN]
    for place, hypothesis in enumerate(told, 1):
        if place == 1 or everything:
            yield ""
            if everything and len(told) > 1:
                yield from labelled(f"cause {place}", _named(hypothesis), screen, "bold")
            yield from _in_full(hypothesis, problem, run, everything, screen)
        elif hypothesis.confidence >= _ALTERNATIVE_FROM:
            yield ""
            yield from _in_short(hypothesis, told[0], problem, screen)


def _named(hypothesis: Hypothesis) -> str:
    return f"{hypothesis.title} ({percent(hypothesis.confidence)})"


def _ranking(problem: Problem, everything: bool, screen: Screen) -> Iterator[str]:
    """A line per cause; what is not shown is the last one."""
    shown = problem.hypotheses if everything else problem.hypotheses[:_CAUSES_SHOWN]
    rows = [(h.confidence, h.title) for h in shown]
    rest = 1.0 - sum(h.confidence for h in shown)
    if rest >= 0.005 or not shown:
        others = len(problem.hypotheses) - len(shown)
        known = f"{count(others, 'other cause')} or " if others else ""
        rows.append((rest, f"{known}something traindx does not know"))
    wide = max(len(percent(share)) for share, _ in rows)
    for number, (share, title) in enumerate(rows):
        bar = screen.paint(_bar(share, screen), "cyan")
        text = cut(title, screen.width - INDENT - wide - _bar_width(screen) - 4, screen)
        style = "dim" if number >= len(shown) else "bold" if number == 0 else ""
        name = label("causes" if number == 0 else "", screen)
        yield f"{name}{percent(share):>{wide}}  {bar}  {screen.paint(text, style)}"


def _bar(share: float, screen: Screen) -> str:
    """Eighths of a cell where the terminal has them."""
    width = _bar_width(screen)
    eighths = round(min(max(share, 0.0), 1.0) * width * 8) if share == share else 0
    if not screen.unicode:
        return f"{'#' * max(round(eighths / 8), eighths > 0):<{width}}"
    return f"{'█' * (eighths // 8) + ('', *'▏▎▍▌▋▊▉')[eighths % 8]:<{width}}"


def _bar_width(screen: Screen) -> int:
    return _BAR if screen.width >= _NARROW else _BAR_NARROW


def _in_full(
    hypothesis: Hypothesis, problem: Problem, run: Run, everything: bool, screen: Screen
) -> Iterator[str]:
    if where := place_text(hypothesis.place):
        yield from labelled("where", where, screen, "bold")
    evidence = [item for item in hypothesis.evidence if item.bits or item.text != problem.summary]
    most = len(evidence) + len(hypothesis.against) if everything else None
    yield from _weighed(evidence, hypothesis.against, problem.summary, run, most, screen)
    if hypothesis.fixes or hypothesis.avoid or hypothesis.confirm:
        yield ""
    yield from _fixes(hypothesis.fixes, everything, screen)
    avoid = hypothesis.avoid if everything else hypothesis.avoid[:_AVOID_SHOWN]
    yield from bullets("avoid", avoid, screen)
    if hypothesis.confirm:
        yield from labelled("confirm", hypothesis.confirm, screen)


def _weighed(
    evidence: Sequence[Evidence],
    against: Sequence[Evidence],
    summary: str,
    run: Run,
    most: int | None,
    screen: Screen,
) -> Iterator[str]:
    """What speaks for the cause and against it: weight, step, sentence."""
    sides = [("", evidence, most or _FOR_SHOWN), ("against", against, most or _AGAINST_SHOWN)]
    shown = [item for _, items, limit in sides for item in items[:limit]]
    steps = {id(i): at_step(i.step, i.series, run) for i in shown if i.step is not None}
    wide = max(4, *(len(_weight(item)) for item in shown), 0)
    far = max(len(run.axis), *map(len, steps.values())) if steps else 0
    if evidence:
        head = f"{'bits':>{wide}}" + (f"  {run.axis:>{far}}" if far else "")
        yield label("evidence", screen) + screen.paint(head, "dim")
    else:
        yield from labelled("evidence", "none of its own: only how common this cause is", screen)
    for name, items, limit in sides:
        for number, item in enumerate(items[:limit]):
            step = f"  {steps.get(id(item), ''):>{far}}" if far else ""
            head = f"{_weight(item):>{wide}}{step}  "
            yield from hanging(head, _said(item, {summary}), screen, name=name if number == 0 else "")
        if items[limit:]:
            weight = f"{bits(sum(item.bits for item in items[limit:])):>{wide}}"
            blank = " " * (far + 2) if far else ""
            told = f"{weight}{blank}  {len(items[limit:]):,} more; --all shows them"
            yield " " * INDENT + screen.paint(told, "dim")


def _weight(item: Evidence) -> str:
    return bits(item.bits) if item.bits else ""


def _said(item: Evidence, told: Collection[str]) -> str:
    """The sentence, or a word for it when it stands above already."""
    if item.text in told and item.series is not None:
        return f"{finding_title(item.finding)}, as above."
    return item.text


def _fixes(fixes: Sequence[Fix], everything: bool, screen: Screen) -> Iterator[str]:
    names = ("first", "then", *("then" for _ in fixes))
    for number, (name, fix) in enumerate(zip(names, fixes if everything else fixes[:2], strict=False)):
        yield from labelled(name, fix.summary, screen, "bold" if number == 0 else "")
        if fix.config and (number == 0 or everything):
            changed = ", ".join(f"{visible(k, 40)} = {_value(v)}" for k, v in fix.config.items())
            yield from labelled("set", changed, screen, "green")
        if fix.patch and (number == 0 or everything):
            yield from _patch(fix.patch, everything, screen)


def _patch(patch: str, everything: bool, screen: Screen) -> Iterator[str]:
    """The edit as a diff: lines are cut, not wrapped."""
    name = "patch"
    for line in patch_lines(patch, None if everything else _PATCH_SHOWN):
        style = _PATCH_STYLES.get(kind_of_line(line), "")
        yield label(name, screen) + screen.paint(cut(line, screen.width - INDENT, screen), style)
        name = ""


def _value(value: object) -> str:
    return short(value) if isinstance(value, float) else visible(str(value), 60)


def _in_short(hypothesis: Hypothesis, first: Hypothesis, problem: Problem, screen: Screen) -> Iterator[str]:
    """The strongest evidence for it that the first cause lacks, the strongest against it, its first fix."""
    where = place_text(hypothesis.place)
    yield from labelled("or", _named(hypothesis) + (f" at {where}" if where else ""), screen)
    told = {problem.summary, *(item.text for item in (*first.evidence, *first.against))}
    weighty = [item for item in hypothesis.evidence if item.bits]
    own = [item for item in weighty if item.text not in told]
    for item in (*(own or weighty)[:1], *hypothesis.against[:1]):
        yield from hanging(f"{_weight(item):>4}  ", _said(item, told), screen)
    if hypothesis.fixes:
        yield from hanging(" fix  ", hypothesis.fixes[0].summary, screen)
