"""A comparison as a document: which is better, what differs, where they part, what a sweep shows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress

from traindx.comparison.baseline import Sharpened
from traindx.comparison.compare import Comparison
from traindx.report import document as doc
from traindx.report.answer import answer
from traindx.report.comparison_charts import DRAWN_MOST, linked, parallel_lines, scatter
from traindx.report.comparison_sweep import sweep_sections
from traindx.report.comparison_words import (
    behind_text,
    final_text,
    heading,
    health_look,
    health_of,
    not_changed,
    parting_words,
    rows,
    verdict,
)
from traindx.report.diagnosis import run_blocks
from traindx.report.document import code, listed
from traindx.report.layout import Screen
from traindx.report.side_by_side import PALETTE, colours
from traindx.report.text import count
from traindx.report.to_html import page
from traindx.report.to_markdown import markdown
from traindx.report.to_terminal import lines
from traindx.report.triage import short_names

_SHOWN, _LAST = 20, 3
_MANY = 12
_VALUES_ACROSS = 6
_CODE_LINES = 24
_SENTENCES_MOST = 8
_FIRST = {"best": 0, "at_step": 1, "to_target": 2, "at_time": 3, "at_samples": 4, "gap": 5}
_ABOUT = (
    "Differences are given with a 95 % interval: against repeats with other seeds where there are any, else "
    "against the noise within single runs, which does not know what another seed would give."
)
_SWEEP_TITLES = {
    "matters": "What matters",
    "together": "What acts together",
    "lr": "Learning rates",
    "scaling": "Learning rate and batch size",
    "descent": "Double descent",
}


def render_comparison(
    compared: Comparison, *, everything: bool, screen: Screen, sharpened: Sequence[Sharpened] = ()
) -> list[str]:
    return lines(_blocks(compared, sharpened, everything, charts=False), screen)


def comparison_markdown(compared: Comparison, sharpened: Sequence[Sharpened] = ()) -> str:
    blocks = tuple(_blocks(compared, sharpened, everything=True, charts=False))
    return markdown(doc.Document("Comparison", "comparison", blocks))


def comparison_html(compared: Comparison, sharpened: Sequence[Sharpened] = ()) -> str:
    blocks = tuple(_blocks(compared, sharpened, everything=True, charts=True))
    body = doc.Section(heading(compared), blocks, anchor="comparison", own_charts=True)
    document = doc.Document("Comparison", "comparison", (body,), _ABOUT)
    return page(document, ["comparison.js"])


def _blocks(
    compared: Comparison, sharpened: Sequence[Sharpened], everything: bool, *, charts: bool
) -> Iterator[doc.Block]:
    facts = () if charts else (doc.Text(heading(compared), "name"),)
    yield doc.Verdict("COMPARED", tuple(verdict(compared)), "good", facts)
    if charts:
        yield from _curves(compared)
    yield doc.Section("Which is better", tuple(_ranking(compared, everything)), "card")
    yield from listed("Warnings", compared.warnings, "card alert")
    if charts and len(compared.runs) > _MANY:
        yield from _settings_and_results(compared)
    yield doc.Section("What differs", tuple(_differs(compared, everything)), "card")
    if compared.parting is not None:
        yield from listed("Where they part", parting_words(compared, compared.parting), "card")
    sections = [
        doc.Section(_SWEEP_TITLES.get(name, name), (doc.Items(tuple(map(doc.Span, sentences))),))
        for name, sentences in sweep_sections(compared)
    ]
    if sections:
        yield doc.Section("The sweep", tuple(sections), "card")
    yield from listed("What to try next", compared.advice, "card")
    for number, sharper in enumerate(sharpened, 1):
        sentences = doc.Items(tuple(sharper.sentences if everything else sharper.sentences[:_SENTENCES_MOST]))
        body = (
            run_blocks(sharper.diagnosis, f"run-{number}") if everything else tuple(answer(sharper.diagnosis))
        )
        title = ("Against the baseline: ", code(sharper.diagnosis.run.name))
        yield doc.Section(title, (sentences, *body), "run", f"run-{number}", own_charts=True)


def _curves(compared: Comparison) -> Iterator[doc.Block]:
    chart = linked(compared)
    if chart is None:
        return
    notes = ["Point at a run in the table to see it alone; a click keeps it."]
    if len(compared.ranking) > len(PALETTE):
        notes.append("Green is best, orange is worst.")
    if len(compared.ranking) > DRAWN_MOST:
        notes.append(f"The {DRAWN_MOST} best of {len(compared.ranking):,} configurations are drawn.")
    if any(len(configuration.runs) > 1 for configuration in compared.configurations):
        notes.append("Bands reach from the lowest to the highest of repeats; the line is their middle.")
    yield doc.Section("Curves", (doc.Chart(chart, 0, "", " ".join(notes)),), "card")


def _ranking(compared: Comparison, everything: bool) -> Iterator[doc.Block]:
    """A row for each configuration; of many the first and the last."""
    measured, placed = rows(compared)
    measured = sorted(measured, key=lambda measure: _FIRST.get(measure.key, 9))
    shades = colours(len(placed))
    by_settings = all(configuration.named_by_settings for _, configuration in placed)
    keys = list(placed[0][1].settings) if placed and by_settings else []
    names = short_names([configuration.name for _, configuration in placed], 120)
    repeats = any(len(configuration.runs) > 1 for _, configuration in placed)
    columns = [doc.TableColumn("", "right", style="dim")]
    columns += [doc.TableColumn(key[:20], "right", style="bold") for key in keys]
    columns += [] if by_settings else [doc.TableColumn("run", least=20, keep="end", style="bold")]
    columns += [
        doc.TableColumn("runs", "right"),
        doc.TableColumn(f"final {compared.chosen.name}", "right"),
        doc.TableColumn("behind", "right"),
    ]
    columns += [
        doc.TableColumn("health", least=46, style="state"),
        *(doc.TableColumn(m.head, "right", least=0) for m in measured),
    ]
    table_rows: list[tuple[doc.Cell, ...]] = []
    for at, (place, configuration) in enumerate(placed):
        behind = place.behind.estimate if place.behind is not None else 0.0 if place.rank == 1 else math.nan
        health = health_of(compared, configuration)
        cells: list[doc.Cell] = [
            (doc.Span("", "swatch", shades[at]), doc.Span(str(place.rank), value=place.rank))
        ]
        cells += (
            [doc.Span((configuration.settings[key] or "")[:24]) for key in keys]
            if by_settings
            else [doc.Span(names[at])]
        )
        cells += [str(len(configuration.runs)) if repeats else ""]
        cells += [
            doc.Span(final_text(place), value=place.final.value),
            doc.Span(behind_text(place), value=behind),
        ]
        cells += [doc.Span(health, look=health_look(health))]
        for measure in measured:
            best = measure.leader == place.configuration and len(set(measure.texts)) > 1
            text, value = measure.texts[place.configuration], measure.values[place.configuration]
            cells.append(doc.Span(text, "strong" if best and text else "", value=value))
        table_rows.append(tuple(cells))
    hidden = 0 if everything else len(table_rows) - _SHOWN - _LAST
    visible_rows = [*table_rows[:_SHOWN], *table_rows[-_LAST:]] if hidden > 0 else table_rows
    groups = tuple(range(len(visible_rows)))
    yield doc.DocumentTable(
        tuple(columns), tuple(visible_rows), look="ranking", filtered=len(visible_rows) > _MANY, groups=groups
    )
    if hidden > 0:
        yield doc.Text(f"... and {hidden:,} between; --all shows them", "dim")


def _settings_and_results(compared: Comparison) -> Iterator[doc.Block]:
    """Settings against results, for more runs than can be read one by one."""
    blocks: list[doc.Block] = []
    chart_of_all = parallel_lines(compared)
    if chart_of_all is not None:
        text = f"Each line is one of {count(len(compared.runs), 'run')}; green is best, orange is worst."
        blocks.append(doc.Chart(chart_of_all, 0, "Parallel coordinates", text))
    swept = compared.sweep
    settings = [setting.key for setting in compared.differing if setting.counts]
    for setting in ([effect.setting for effect in swept.effects] if swept is not None else settings)[:3]:
        chart = scatter(compared, setting)
        if chart is not None:
            blocks.append(doc.Chart(chart, 0, f"Result over {setting}"))
    if blocks:
        yield doc.Section("Settings and results", tuple(blocks), "card")


def _differs(compared: Comparison, everything: bool) -> Iterator[doc.Block]:
    settings = [
        setting
        for setting in compared.differing
        if setting.counts or setting.group in ("seed", "environment")
    ]
    settings = [setting for setting in settings if len(setting.distinct) > 1 or setting.counts]
    if not settings and compared.code is None:
        yield doc.Text("The logs name no setting that differs.")
    elif settings:
        is_column_per_run = len(compared.runs) <= _VALUES_ACROSS
        names = short_names([run.name for run in compared.runs], 24) if is_column_per_run else ["values"]
        columns = (doc.TableColumn("setting", style="bold"), doc.TableColumn("kind", style="dim"))
        table_rows = [
            (
                code(setting.key.partition(": ")[2] or setting.key),
                setting.group,
                *(
                    (doc.Span(value if value is not None else "not logged") for value in setting.values)
                    if is_column_per_run
                    else [doc.Span(_listed_values(setting.distinct))]
                ),
            )
            for setting in settings
        ]
        yield doc.DocumentTable(
            (*columns, *(doc.TableColumn(name, least=10) for name in names)), tuple(table_rows)
        )
    besides = not_changed(compared) if everything else not_changed(compared)[:2]
    if besides:
        yield doc.Items(tuple(map(doc.Span, besides)), "besides")
    yield from _code(compared, everything)


def _listed_values(values: Iterable[str]) -> str:
    listed = list(values)
    with suppress(ValueError):
        listed.sort(key=float)
    if len(listed) <= _MANY:
        return ", ".join(listed)
    return f"{', '.join(listed[:8])}, ... {listed[-1]} ({len(listed):,} values)"


def _code(compared: Comparison, everything: bool) -> Iterator[doc.Block]:
    changed = compared.code
    if changed is None:
        return
    if changed.note:
        yield doc.Labelled("code", changed.note)
        return
    yield doc.Labelled("code", f"{count(changed.changes, 'place')} of the script changed")
    limit = None if everything else _CODE_LINES
    yield doc.Diff(tuple(changed.lines[:limit]))
    if limit is not None and len(changed.lines) > limit:
        yield doc.Text(f"... {len(changed.lines) - limit:,} more lines; --all shows them", "dim")
