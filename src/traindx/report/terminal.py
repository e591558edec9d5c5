"""Runs as lines of text for a terminal or a pipe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from traindx.core.nouns import Note, Reading, Run
from traindx.core.units import readers
from traindx.report.cells import best, broken_points, curve, ends, not_finite, span, written
from traindx.report.families import Family, families
from traindx.report.layout import Column, Screen, fit, paragraph, table, without_empty, wrapped
from traindx.report.overview import overview
from traindx.report.summary import duration, summarize
from traindx.report.text import count, lasting, short, visible

_DETAILS_UP_TO = 3
_SERIES_SHOWN = 24
_NOTES_SHOWN = 6
_FILES_SHOWN = 3
_CURVE_WIDTH = 16
_CURVE_WIDTH_WIDE = 28
_WIDE = 120
_LABEL = "  {:<10}"


def render(reading: Reading, *, everything: bool, screen: Screen) -> Iterator[str]:
    """Several runs as a table first; each run in full when they are few or when all is asked for."""
    runs = reading.runs
    if len(runs) > 1:
        yield from overview(runs, screen)
    if everything or len(runs) <= _DETAILS_UP_TO:
        for number, run in enumerate(runs):
            if number or len(runs) > 1:
                yield ""
            yield from _run(run, everything, screen)
    else:
        yield ""
        yield screen.paint("  --all shows each run in full; so does naming fewer of them.", "dim")
    if reading.skipped:
        yield ""
        yield from _skipped(reading.skipped, everything, screen)


def _run(run: Run, everything: bool, screen: Screen) -> Iterator[str]:
    yield screen.paint(fit(visible(run.name, 300), screen.width, "end"), "title")
    yield from _heading(run, everything, screen)
    yield ""
    yield from _series(run, everything, screen)
    if run.settings or run.config:
        yield ""
        yield from _settings(run, everything, screen)
    if run.events:
        yield ""
        yield from _events(run, everything, screen)
    if run.notes:
        yield ""
        texts = [_note(note, run) for note in run.notes]
        yield from _list("notes", texts, everything, screen)


def _note(note: Note, run: Run) -> str:
    where = "" if note.path == run.path else f"{visible(note.path)}: "
    return where + visible(note.text)


def _heading(run: Run, everything: bool, screen: Screen) -> Iterator[str]:
    titles = {unit.id: unit.title for unit in readers()}
    formats = " + ".join(titles.get(part, part) for part in run.formats)
    length = [f"last {run.axis} {short(run.last_step)}"]
    length.append(f"{count(len(run.series), 'series', 'series')}, {count(run.points, 'point')}")
    if seconds := duration(run):
        length.append(f"over {lasting(seconds)}")
    facts = [("format", visible(formats)), ("length", ", ".join(length))]
    if run.traits:
        facts.append(("kind", visible(", ".join(sorted(run.traits)))))
    if run.files and run.files != (run.name,):
        shown = run.files if everything else run.files[:_FILES_SHOWN]
        names = [fit(visible(file), screen.width - 14, "end") for file in shown]
        if len(names) < len(run.files):
            names.append(f"and {len(run.files) - len(names):,} more")
        facts.append(("files", "\n".join(names)))
    for label, text in facts:
        for number, line in enumerate(text.split("\n")):
            head = screen.paint(_LABEL.format(label if number == 0 else ""), "dim")
            yield screen.plain(head + fit(line, screen.width - 12))


def _series(run: Run, everything: bool, screen: Screen) -> Iterator[str]:
    filled = [series for series in run.series.values() if len(series)]
    few = everything or len(filled) <= _SERIES_SHOWN + 4
    told = [Family(series, (series,)) for series in filled] if few else families(filled)
    shown = told if few or len(told) <= _SERIES_SHOWN + 4 else told[:_SERIES_SHOWN]
    summaries = [summarize(family.curve) for family in shown]
    steps = span(run)
    width = _CURVE_WIDTH_WIDE if screen.width >= _WIDE else _CURVE_WIDTH
    columns = [
        Column("series", least=16 if few else min(28, max(16, screen.width - 74)), style="bold"),
        Column("points", "right"),
        Column("first → last"),
        Column("best"),
        Column("NaN/Inf", "right", style="red"),
        Column(f"{run.axis} {short(steps[0])} to {short(steps[1])}", style="curve"),
        Column("column", least=0, style="dim"),
    ]
    firsts = max((len(short(s.first)) for s in summaries), default=0)
    rows = [
        [
            visible(family.curve.name, 200),
            f"{summary.points:,}",
            ends(summary, firsts),
            best(summary),
            not_finite(family.members),
            curve(family.curve, steps, screen, width),
            written(family.curve),
        ]
        for family, summary in zip(shown, summaries, strict=True)
    ]
    yield from table(*without_empty(columns, rows), screen)
    hidden = [series for family in told[len(shown) :] for series in family.members]
    if hidden:
        broken = sum(broken_points(series) > 0 for series in hidden)
        alarm = f", {broken:,} of them with NaN or Inf" if broken else ""
        yield screen.paint(f"  and {len(hidden):,} more series{alarm}; --all shows them", "dim")
    elif len(shown) < len(filled):
        yield screen.paint(
            f"  * is the median of layers, groups or ranks; --all shows all {len(filled):,}", "dim"
        )


def _settings(run: Run, everything: bool, screen: Screen) -> Iterator[str]:
    known = [f"{visible(name)}={_value(value)}" for name, value in run.settings.items()]
    label = screen.paint(_LABEL.format("settings"), "dim")
    yield from map(screen.plain, _labelled(known or ["none that is known"], label, screen.width))
    if not run.config:
        return
    if everything:
        every = [f"{visible(name)}={_value(value)}" for name, value in run.config.items()]
        label = screen.paint(_LABEL.format("config"), "dim")
        yield from map(screen.plain, _labelled(every, label, screen.width))
    else:
        text = f"{count(len(run.config), 'key')} of configuration in all; --all shows them"
        yield " " * 12 + screen.paint(text, "dim")


def _labelled(items: Sequence[str], label: str, width: int) -> Iterator[str]:
    """Items beside a label; the label may hold colour, so it is put on afterwards."""
    for number, line in enumerate(paragraph(items, width - 12)):
        yield (label if number == 0 else " " * 12) + line


def _value(value: object) -> str:
    if isinstance(value, float):
        return short(value)
    return visible(str(value), 60)


def _events(run: Run, everything: bool, screen: Screen) -> Iterator[str]:
    shown = run.events if everything else run.events[:_NOTES_SHOWN]
    for number, event in enumerate(shown):
        head = screen.paint(_LABEL.format("events" if number == 0 else ""), "dim")
        at = f"{run.axis} {short(event.step)}  " if event.step is not None else ""
        kind = visible(event.kind, 20)
        lines = wrapped(f"{at}{kind}: {visible(event.text, 400)}", screen.width - 12)
        yield screen.plain(head + screen.paint(lines[0], "yellow"))
        yield from (screen.plain(" " * 12 + screen.paint(line, "yellow")) for line in lines[1:])
    if len(shown) < len(run.events):
        yield " " * 12 + screen.paint(f"and {len(run.events) - len(shown):,} more; --all shows them", "dim")


def _list(label: str, texts: Sequence[str], everything: bool, screen: Screen) -> Iterator[str]:
    shown = texts if everything else texts[:_NOTES_SHOWN]
    for number, text in enumerate(shown):
        head = screen.paint(_LABEL.format(label if number == 0 else ""), "dim")
        for row, line in enumerate(wrapped(text, screen.width - 12)):
            yield screen.plain((head if row == 0 else " " * 12) + line)
    if len(shown) < len(texts):
        yield " " * 12 + screen.paint(f"and {len(texts) - len(shown):,} more; --all shows them", "dim")


def _skipped(notes: Sequence[Note], everything: bool, screen: Screen) -> Iterator[str]:
    """Grouped by reason: many files of one kind are one line."""
    reasons: dict[str, list[str]] = {}
    for note in notes:
        reasons.setdefault(visible(note.text, 300), []).append(visible(note.path))
    yield screen.paint(f"Not read: {count(len(notes), 'file or folder', 'files or folders')}", "bold")
    for text, paths in reasons.items():
        many = f" ({len(paths):,})" if len(paths) > 1 else ""
        yield from wrapped(text + many, screen.width, first="  ", rest="  ")
        shown = paths if everything or len(paths) <= _FILES_SHOWN + 1 else paths[:_FILES_SHOWN]
        for path in shown:
            yield "    " + screen.paint(fit(path, screen.width - 4, "end"), "dim")
        if len(shown) < len(paths):
            yield "    " + screen.paint(f"and {len(paths) - len(shown):,} more", "dim")
