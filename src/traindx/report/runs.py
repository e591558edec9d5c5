"""Runs as they were read: several as a table, each with its curves, settings, events and notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from traindx.core.nouns import Note, Reading, Run
from traindx.report.architecture import architecture_sentence, architectures
from traindx.report.cells import best, broken_points, curve, ends, not_finite, span, sparkline_of, written
from traindx.report.document import (
    Block,
    Cell,
    DocumentTable,
    Labelled,
    Preformatted,
    Span,
    TableColumn,
    Text,
)
from traindx.report.families import Family, families
from traindx.report.layout import Screen, fit
from traindx.report.summary import main_series, run_facts, summarize
from traindx.report.text import count, short, value_text, visible
from traindx.report.to_terminal import lines

_DETAILS_UP_TO = 3
_SERIES_SHOWN = 24
_NOTES_SHOWN = 6
_FILES_SHOWN = 3
_CURVE, _CURVE_WIDE, _CURVE_SHORT = 16, 28, 12
_WIDE = 120


def render(reading: Reading, *, everything: bool, screen: Screen) -> list[str]:
    """Several runs as a table first; each run in full when they are few or when all is asked for."""
    runs = reading.runs
    report_lines: list[str] = []
    if len(runs) > 1:
        head = Text(Span(count(len(runs), "run"), "strong"), "whole")
        report_lines += [*lines([head], screen), "", *lines([_overview(runs)], screen), ""]
    if everything or len(runs) <= _DETAILS_UP_TO:
        for run in runs:
            report_lines += [*lines(_run(run, everything, screen), screen), ""]
    else:
        report_lines += [
            screen.paint("  --all shows each run in full; so does naming fewer of them.", "dim"),
            "",
        ]
    if reading.skipped:
        report_lines += [*lines(_skipped(reading.skipped, everything, screen), screen), ""]
    return report_lines[:-1] if report_lines else report_lines


def _overview(runs: Sequence[Run]) -> DocumentTable:
    columns = (
        TableColumn("run", least=26, keep="end", style="bold"),
        TableColumn("last", "right"),
        TableColumn("curve", least=0),
        TableColumn("first → last"),
        TableColumn("NaN/Inf", "right", style="red"),
        TableColumn("", style="curve"),
        TableColumn("series", "right", least=0),
        TableColumn("format", least=0),
    )
    rows: list[tuple[Cell, ...]] = []
    for run in runs:
        main = main_series(run)
        if main is None:
            continue
        broken = sum(broken_points(series) for series in run.series.values())
        facts = (f"{run.axis} {short(run.last_step)}", Span(main.name[:16]), ends(summarize(main), 0))
        broken_text = f"{broken:,}" if broken else ""
        last = (curve(run, _CURVE_SHORT) or "", f"{len(run.series):,}", "+".join(run.formats))
        rows.append((Span(run.name), *facts, broken_text, *last))
    return DocumentTable(columns, tuple(rows))


def _run(run: Run, everything: bool, screen: Screen) -> Iterator[Block]:
    yield Text(Span(run.name), "title")
    yield from _facts(run, everything)
    yield _gap()
    yield from _series(run, everything, screen)
    if run.settings or run.config:
        yield _gap()
        yield Labelled("settings", Span(_settings(run.settings) or "none that is known"))
    if run.config and everything:
        yield Labelled(
            "config",
            Span(_settings(run.config)),
        )
    elif run.config:
        yield Labelled(
            "", f"{count(len(run.config), 'key')} of configuration in all; --all shows them", "dim"
        )
    events = [
        Span(
            (f"{run.axis} {short(e.step)}  " if e.step is not None else "") + f"{e.kind[:20]}: {e.text[:400]}"
        )
        for e in run.events
    ]
    yield from _first_texts("events", events, everything, "yellow")
    notes = [Span(("" if note.path == run.path else f"{note.path}: ") + note.text) for note in run.notes]
    yield from _first_texts("notes", notes, everything, "")


def _settings(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name}={value_text(value)[:60]}" for name, value in settings.items())


def _gap() -> Block:
    return Preformatted((("", ""),))


def _facts(run: Run, everything: bool) -> Iterator[Block]:
    yield from (Labelled(name, Span(text)) for name, text in run_facts(run))
    for model in architectures(run) if run.facts.get("models") else ():
        yield Labelled("model", architecture_sentence(model))
    if run.files and run.files != (run.name,):
        yield from _first_texts("files", [Span(file) for file in run.files], everything, "", _FILES_SHOWN)


def _first_texts(
    label: str, texts: Sequence[Span], everything: bool, style: str, most: int = _NOTES_SHOWN
) -> Iterator[Block]:
    if not texts:
        return
    if label != "files":
        yield _gap()
    first_texts = texts if everything else texts[:most]
    for number, text in enumerate(first_texts):
        yield Labelled(label if number == 0 else "", text, style)
    if len(first_texts) < len(texts):
        yield Labelled("", f"and {len(texts) - len(first_texts):,} more; --all shows them", "dim")


def _series(run: Run, everything: bool, screen: Screen) -> Iterator[Block]:
    filled = [series for series in run.series.values() if len(series)]
    if not filled:
        return
    is_short = everything or len(filled) <= _SERIES_SHOWN + 4
    folded = [Family(series, (series,)) for series in filled] if is_short else families(filled)
    listed = folded if is_short or len(folded) <= _SERIES_SHOWN + 4 else folded[:_SERIES_SHOWN]
    summaries = [summarize(family.curve) for family in listed]
    steps = span(run)
    columns = (
        TableColumn("series", least=16 if is_short else min(28, max(16, screen.width - 74)), style="bold"),
        TableColumn("points", "right"),
        TableColumn("first → last"),
        TableColumn("best"),
        TableColumn("NaN/Inf", "right", style="red"),
        TableColumn(f"{run.axis} {short(steps[0])} to {short(steps[1])}", style="curve"),
        TableColumn("column", least=0, style="dim"),
    )
    firsts = max((len(short(s.first)) for s in summaries), default=0)
    width = _CURVE_WIDE if screen.width >= _WIDE else _CURVE
    rows = [
        (
            Span(family.curve.name[:200]),
            f"{summary.points:,}",
            ends(summary, firsts),
            best(summary),
            not_finite(family.members),
            sparkline_of(family.curve, steps, width),
            Span(written(family.curve)),
        )
        for family, summary in zip(listed, summaries, strict=True)
    ]
    yield DocumentTable(columns, tuple(rows))
    hidden = [series for family in folded[len(listed) :] for series in family.members]
    if hidden:
        broken = sum(broken_points(series) > 0 for series in hidden)
        alarm = f", {broken:,} of them with NaN or Inf" if broken else ""
        yield Text(f"and {len(hidden):,} more series{alarm}; --all shows them", "dim")
    elif len(listed) < len(filled):
        yield Text(f"* is the median of layers, groups or ranks; --all shows all {len(filled):,}", "dim")


def _skipped(notes: Sequence[Note], everything: bool, screen: Screen) -> Iterator[Block]:
    """Grouped by reason: many files of one kind are one line."""
    reasons: dict[str, list[str]] = {}
    for note in notes:
        reasons.setdefault(visible(note.text, 300), []).append(visible(note.path))
    yield Text(
        Span(f"Not read: {count(len(notes), 'file or folder', 'files or folders')}", "strong"), "whole"
    )
    for text, paths in reasons.items():
        yield Text(text + (f" ({len(paths):,})" if len(paths) > 1 else ""))
        listed_paths = paths if everything or len(paths) <= _FILES_SHOWN + 1 else paths[:_FILES_SHOWN]
        listed = [fit(path, screen.width - 4, "end") for path in listed_paths]
        listed += [f"and {len(paths) - len(listed_paths):,} more"] if len(listed_paths) < len(paths) else []
        yield Preformatted(tuple((f"    {path}", "dim") for path in listed))
