"""The page of a comparison: which is better, the curves linked, what differs, what a sweep shows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

from traindx.comparison import Comparison
from traindx.report.comparison_measures import Measure
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
from traindx.report.page.comparison_charts import DRAWN_MOST, PALETTE, ComparisonCharts
from traindx.report.page.markup import Html, joined, json_script, prose, tag
from traindx.report.page.page import document
from traindx.report.place_words import kind_of_line
from traindx.report.text import count

_MANY = 12
_ACROSS = 6
_KEYS_MOST = 12
_ABOUT = (
    "Differences are given with a 95 % interval: against repeats with other seeds where there are any, else "
    "against the noise within single runs, which does not know what another seed would give."
)


def comparison_html(told: Comparison, more: Html | None = None) -> str:
    """The page as text; `more` is put at its end."""
    charts = ComparisonCharts(told)
    parts = joined(
        tag("h1", heading(told)),
        _banner(told),
        _curves(told, charts),
        _table(told, charts),
        _many(told, charts),
        _listed("Where they part", parting_words(told, told.parting) if told.parting else ()),
        _differs(told),
        _sweep(told),
        _listed("What to try next", told.advice),
        more,
        json_script(charts.json(), "comparison-charts"),
    )
    script = (Path(__file__).parent / "comparison.js").read_text(encoding="utf-8")
    return document(f"{heading(told)}: comparison", "comparison", parts, _ABOUT, [script])


def _banner(told: Comparison) -> Html:
    first, *others = verdict(told)
    return joined(
        tag(
            "section",
            tag("p", tag("b", first)),
            tag("ul", *(tag("li", text) for text in others)) if others else None,
            cls="banner healthy",
        ),
        tag(
            "section",
            tag("h2", "Beware"),
            tag("ul", *(tag("li", prose(text)) for text in told.warnings), cls="said"),
            cls="card alert",
        )
        if told.warnings
        else None,
    )


def _chart(told: tuple[int, int] | None, label: str) -> Html | None:
    if told is None:
        return None
    number, height = told
    room = {"data_run": "comparison", "data_chart": number, "style": f"height:{height}px"}
    return tag("div", cls="chart", role="img", aria_label=label, **room)


def _curves(told: Comparison, charts: ComparisonCharts) -> Html | None:
    chart = _chart(charts.linked(), "Curves of the runs over their steps")
    if chart is None:
        return None
    placed = told.ranking[:DRAWN_MOST]
    few = len(told.ranking) <= len(PALETTE)
    shown = placed if few else [*placed[: _KEYS_MOST - 2], *placed[-1:]]
    key = [
        tag(
            "li",
            tag("span", cls="sign line", style=f"color:{charts.colours[placed.index(one)]}"),
            told.configurations[one.configuration].name,
            data_group=placed.index(one),
        )
        for one in shown
    ]
    notes = ["Point at a run in the table or the key to see it alone; a click keeps it."]
    if not few:
        notes.append("Green is best, orange is worst.")
    if len(told.ranking) > DRAWN_MOST:
        notes.append(f"The {DRAWN_MOST} best of {len(told.ranking):,} configurations are drawn.")
    if any(len(one.runs) > 1 for one in told.configurations):
        notes.append("Bands reach from the lowest to the highest of repeats; the line is their middle.")
    return tag(
        "section",
        tag("h2", "Curves"),
        tag("p", " ".join(notes), cls="where"),
        tag("figure", tag("ul", *key, cls="key runs"), chart),
        cls="card",
    )


def _table(told: Comparison, charts: ComparisonCharts) -> Html:
    measured, placed = rows(told)
    by_settings = all(one.named_by_settings for _, one in placed)
    keys = list(placed[0][1].settings) if placed and by_settings else []
    heads = [("", True), *((key, True) for key in keys)] if by_settings else [("", True), ("run", False)]
    heads += [("runs", True), (f"final {told.chosen.name}", True), ("behind", True)]
    heads += [("health", False), *((measure.head, True) for measure in measured)]
    made = []
    for at, (place, one) in enumerate(placed):
        swatch = tag("span", cls="swatch", style=f"background:{charts.colours[at]}")
        cells = [tag("td", swatch, str(place.rank), cls="number", data_value=place.rank)]
        if by_settings:
            cells += [tag("td", one.settings[key] or "", cls="number") for key in keys]
        else:
            cells.append(tag("td", one.name, cls="who"))
        cells.append(tag("td", str(len(one.runs)), cls="number"))
        cells.append(tag("td", final_text(place), cls="number", data_value=_number(place.final.value)))
        behind = place.behind.estimate if place.behind is not None else 0.0 if place.rank == 1 else math.nan
        cells.append(tag("td", behind_text(place), cls="number", data_value=_number(behind)))
        cells.append(tag("td", health_of(told, one), cls="state"))
        cells += [_measured(measure, place.configuration) for measure in measured]
        made.append(tag("tr", *cells, data_group=at))
    head = tag(
        "tr", *(tag("th", text, scope="col", cls="number" if number else None) for text, number in heads)
    )
    search = tag("input", type="search", id="filter", placeholder="Filter", aria_label="Filter the runs")
    many = len(placed) > _MANY
    return tag(
        "section",
        tag("h2", "Which is better"),
        search if many else None,
        tag("div", tag("table", tag("thead", head), tag("tbody", *made), cls="ranking"), cls="wide"),
        cls="card",
    )


def _number(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _measured(measure: Measure, configuration: int) -> Html:
    best = measure.leader == configuration and len(set(measure.texts)) > 1
    value = measure.values[configuration]
    kind = "number bestof" if best else "number"
    return tag("td", measure.texts[configuration], cls=kind, data_value=_number(value))


def _many(told: Comparison, charts: ComparisonCharts) -> Html | None:
    """Settings against results, where the runs are too many to look at one by one."""
    if len(told.runs) <= _MANY:
        return None
    made = []
    parallel = _chart(charts.parallel(), "Parallel coordinates: settings and result of every run")
    if parallel is not None:
        text = f"Each line is one of {count(len(told.runs), 'run')}; green is best, orange is worst."
        made.append(joined(tag("h3", "Parallel coordinates"), tag("p", text, cls="where"), parallel))
    for setting in _numeric(told)[:3]:
        chart = _chart(charts.scatter(setting), f"Result over {setting}")
        if chart is not None:
            made.append(joined(tag("h3", f"Result over {setting}"), chart))
    return tag("section", tag("h2", "Settings and results"), *made, cls="card") if made else None


def _numeric(told: Comparison) -> Sequence[str]:
    """Settings to draw the result over, those that matter first."""
    if told.sweep is None:
        return [one.key for one in told.differing if one.counts]
    return [effect.setting for effect in told.sweep.effects]


def _listed(title: str, texts: Sequence[str]) -> Html | None:
    if not texts:
        return None
    return tag(
        "section",
        tag("h2", title),
        tag("ul", *(tag("li", prose(text)) for text in texts), cls="said"),
        cls="card",
    )


def _differs(told: Comparison) -> Html:
    shown = [one for one in told.differing if one.counts or one.group in ("seed", "environment")]
    shown = [one for one in shown if len(one.distinct) > 1]
    parts: list[Html | None] = [tag("h2", "What differs")]
    if not shown and told.code is None:
        parts.append(tag("p", "Nothing that the logs tell of the settings.", cls="where"))
    elif shown:
        few = len(told.runs) <= _ACROSS
        names = [run.name for run in told.runs] if few else ["values"]
        head = tag("tr", *(tag("th", text, scope="col") for text in ("setting", "kind", *names)))
        made = []
        for one in shown:
            values = [value or "" for value in one.values] if few else [_some(one.distinct)]
            cells = [tag("td", tag("code", one.key)), tag("td", one.group)]
            made.append(tag("tr", *cells, *(tag("td", value) for value in values)))
        parts.append(tag("div", tag("table", tag("thead", head), tag("tbody", *made)), cls="wide"))
    besides = not_changed(told)
    if besides:
        parts.append(tag("ul", *(tag("li", text) for text in besides), cls="said where"))
    if told.code is not None:
        parts.append(_code(told))
    return tag("section", *parts, cls="card")


def _code(told: Comparison) -> Html:
    code = told.code
    if code is None or code.note:
        return tag("p", code.note if code is not None else "")
    lines = [joined(tag("span", line, cls=kind_of_line(line) or None), Html("\n")) for line in code.lines]
    return joined(tag("h3", "Code"), tag("pre", *lines, cls="patch"))


def _some(values: Sequence[str]) -> str:
    return ", ".join(values[:12]) + (f", ... ({len(values):,} values)" if len(values) > 12 else "")


def _sweep(told: Comparison) -> Html | None:
    sections = sweep_sections(told)
    if not sections:
        return None
    parts = [
        joined(tag("h3", _TITLES.get(name, name)), tag("ul", *(tag("li", text) for text in said), cls="said"))
        for name, said in sections
    ]
    return tag("section", tag("h2", "The sweep"), *parts, cls="card")


_TITLES = {
    "matters": "What matters",
    "together": "What acts together",
    "lr": "Learning rates",
    "scaling": "Learning rate and batch size",
    "descent": "Double descent",
}
