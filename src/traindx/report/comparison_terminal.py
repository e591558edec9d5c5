"""A comparison as lines of text: which is better, what differs, where they part, what to try."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.comparison import Comparison
from traindx.comparison.differing import Differing
from traindx.comparison.groups import Configuration
from traindx.report.comparison_sweep import sweep_sections
from traindx.report.comparison_words import (
    behind_text,
    final_text,
    heading,
    health_of,
    not_changed,
    parting_words,
    rows,
    verdict,
)
from traindx.report.labelled import INDENT, bullets, cut, hanging, labelled, wrap
from traindx.report.layout import Column, Screen, cells, table, without_empty
from traindx.report.text import count, visible
from traindx.report.triage import short_names

_SHOWN, _LAST = 20, 3
_ACROSS = 4
_FIRST = {"best": 0, "at_step": 1, "to_target": 2, "at_time": 3, "at_samples": 4, "gap": 5}
_VALUES_ACROSS = 4
_CODE_LINES = 24
_STYLES = {"critical": "alarm", "high": "red", "medium": "yellow", "healthy": "green", "failed": "red"}


def render_comparison(told: Comparison, *, everything: bool, screen: Screen) -> Iterator[str]:
    """The whole comparison."""
    word = f"{'COMPARED':<{INDENT}}"
    for number, text in enumerate(verdict(told)):
        for line in wrap(text, screen.width - INDENT, screen):
            yield screen.paint(word, "good") + screen.paint(line, "bold" if number == 0 else "")
            word = " " * INDENT
    yield " " * INDENT + screen.paint(cut(heading(told), screen.width - INDENT, screen), "dim")
    yield from ("", *_ranking(told, everything, screen))
    if told.warnings:
        yield ""
        yield from bullets("beware", told.warnings, screen)
    yield from _differences(told, everything, screen)
    if told.parting is not None:
        yield ""
        yield _rule("Where they part", screen)
        yield from bullets("", parting_words(told, told.parting), screen)
    sections = sweep_sections(told)
    if sections:
        yield ""
        yield _rule("The sweep", screen)
        for name, lines in sections:
            yield from _section(name, lines, screen)
    if told.advice:
        yield ""
        yield from bullets("next", told.advice, screen)


def _rule(title: str, screen: Screen) -> str:
    line = screen.plain("─") * max(0, screen.width - cells(title) - 1)
    return f"{screen.paint(title, 'bold')} {screen.paint(line, 'dim')}"


def _section(name: str, lines: Sequence[str], screen: Screen) -> Iterator[str]:
    """Long labels stand on a line of their own."""
    if len(name) > INDENT - 3:
        yield from hanging("", f"{name}:", screen)
        name = ""
    yield from bullets(name, lines, screen)


def _ranking(told: Comparison, everything: bool, screen: Screen) -> list[str]:
    if len(told.ranking) <= _ACROSS:
        return _across(told, screen)
    return _down(told, everything, screen)


def _across(told: Comparison, screen: Screen) -> list[str]:
    """A few configurations: one column each, the best of every row marked."""
    measured, placed = rows(told)
    names = short_names([one.name for _, one in placed], 30)
    columns = [Column("", style="dim"), *(Column(name, "right", least=12, keep="end") for name in names)]
    made = [[f"final {told.chosen.name}", *(screen.plain(final_text(place)) for place, _ in placed)]]
    if len(placed) > 1:
        made.append(["behind", *(behind_text(place) for place, _ in placed)])
    for measure in measured:
        best = measure.leader
        alike = len({measure.values[place.configuration] for place, _ in placed}) == 1
        marked = [
            ("* " if place.configuration == best and not alike else "") + measure.texts[place.configuration]
            for place, _ in placed
        ]
        made.append([measure.head, *marked])
    if any(len(one.runs) > 1 for _, one in placed):
        made.insert(0, ["runs", *(str(len(one.runs)) for _, one in placed)])
    lines = table(columns, made, screen)
    for (_, configuration), name in zip(placed, names, strict=True):
        state = f"{name}: {health_of(told, configuration)}"
        lines += [_paint(line, state, screen) for line in labelled("health", state, screen)]
    return lines


def _down(told: Comparison, everything: bool, screen: Screen) -> list[str]:
    """Many configurations: one row each, as many measures as leave room for the state of health."""
    measured, placed = rows(told)
    columns, heads = _heads([one for _, one in placed])
    taken = sum(max(map(len, column)) + 2 for column in zip(*heads, strict=True))
    finals = [screen.plain(final_text(place)) for place, _ in placed]
    room = screen.width - min(taken, 44) - max(map(len, [*finals, f"final {told.chosen.name}"])) - 54
    kept = []
    for measure in sorted(measured, key=lambda one: _FIRST.get(one.key, 9)):
        room -= max(len(measure.head), *(len(text) for text in measure.texts)) + 2
        if room >= 0:
            kept.append(measure)
    made = [
        [
            str(place.rank),
            *head,
            final,
            behind_text(place),
            *(measure.texts[place.configuration] for measure in kept),
            visible(health_of(told, configuration), 200),
        ]
        for (place, configuration), head, final in zip(placed, heads, finals, strict=True)
    ]
    columns = [
        Column("", "right", style="dim"),
        *columns,
        Column(f"final {told.chosen.name}", "right"),
        Column("behind", "right"),
        *(Column(measure.head, "right") for measure in kept),
        Column("health", least=24),
    ]
    hidden = 0 if everything else len(made) - _SHOWN - _LAST
    if hidden > 0:
        made = [*made[:_SHOWN], *made[-_LAST:]]
    head, *lines = table(*without_empty(columns, made), screen)
    painted = [_paint(line, row[-1], screen) for line, row in zip(lines, made, strict=True)]
    if hidden > 0:
        painted.insert(_SHOWN, screen.paint(f"  ... and {hidden:,} between; --all shows them", "dim"))
    return [head, *painted]


def _heads(made: Sequence[Configuration]) -> tuple[list[Column], list[list[str]]]:
    """What tells configurations apart: their settings, a column each, or their names."""
    repeats = any(len(one.runs) > 1 for one in made)
    runs = [Column("runs", "right")] if repeats else []
    if all(one.named_by_settings for one in made):
        keys = list(made[0].settings)
        columns = [*(Column(visible(key, 20), "right", style="bold") for key in keys), *runs]
        cells_of = [[visible(one.settings[key] or "", 24) for key in keys] for one in made]
    else:
        columns = [Column("configuration" if repeats else "run", least=20, keep="end", style="bold"), *runs]
        cells_of = [[name] for name in short_names([one.name for one in made], 40)]
    return columns, [
        [*cells, *([str(len(one.runs))] if repeats else [])]
        for cells, one in zip(cells_of, made, strict=True)
    ]


def _paint(line: str, health: str, screen: Screen) -> str:
    for word, style in _STYLES.items():
        if word in health.split(",")[0].split(":")[0] or f": {word}:" in health:
            at = line.rfind(word)
            if at >= 0:
                return line[:at] + screen.paint(word, style) + line[at + len(word) :]
    return line


def _differences(told: Comparison, everything: bool, screen: Screen) -> Iterator[str]:
    shown = [one for one in told.differing if one.counts]
    shown += [one for one in told.differing if one.group in ("seed", "environment") and len(one.distinct) > 1]
    yield ""
    yield _rule("What differs", screen)
    if not shown and told.code is None:
        yield from hanging("", "Nothing that the logs tell of the settings.", screen)
    yield from _settings(shown, told, screen)
    for text in not_changed(told) if everything else not_changed(told)[:2]:
        yield from labelled("besides", text, screen, "dim")
    yield from _code(told, everything, screen)


def _settings(shown: Sequence[Differing], told: Comparison, screen: Screen) -> list[str]:
    """One row per setting: a column per run when they are few, else the values that occur."""
    if not shown:
        return []
    few = len(told.runs) <= _VALUES_ACROSS
    names = short_names([run.name for run in told.runs], 24) if few else ["values"]
    columns = [Column("", style="dim"), Column("", style="bold"), *(Column(name, least=10) for name in names)]
    made, group = [], ""
    for one in shown:
        key = visible(one.key.partition(": ")[2] or one.key, 40)
        texts = [_shown(value) for value in one.values] if few else [_listed(one)]
        made.append([one.group if one.group != group else "", key, *texts])
        group = one.group
    return table(columns, made, screen)


def _shown(value: str | None) -> str:
    return visible(value, 60) if value is not None else "not told"


def _listed(one: Differing) -> str:
    values = [visible(value, 30) for value in _ordered(one.distinct)]
    if len(values) <= 8:
        return ", ".join(values)
    return f"{', '.join(values[:4])}, ... {values[-1]} ({len(values):,} values)"


def _ordered(values: list[str]) -> list[str]:
    try:
        return sorted(values, key=float)
    except ValueError:
        return values


def _code(told: Comparison, everything: bool, screen: Screen) -> Iterator[str]:
    code = told.code
    if code is None:
        return
    if code.note:
        yield from labelled("code", code.note, screen)
        return
    yield from labelled("code", f"{count(code.changes, 'place')} of the script changed", screen)
    limit = None if everything else _CODE_LINES
    for line in code.lines[:limit]:
        style = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
        yield " " * INDENT + screen.paint(cut(line, screen.width - INDENT, screen), style)
    if limit is not None and len(code.lines) > limit:
        yield " " * INDENT + screen.paint(
            f"... {len(code.lines) - limit:,} more lines; --all shows them", "dim"
        )
