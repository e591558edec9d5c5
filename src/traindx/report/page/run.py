"""One run: its verdict, its problems, what else was noticed, and what could not be looked at."""

from __future__ import annotations

from collections.abc import Sequence

from traindx.core.nouns import Check, Diagnosis, Event, Problem, Run
from traindx.core.units import readers
from traindx.evidence.case import Case
from traindx.report.page.charts import Charts
from traindx.report.page.inside import inside_section
from traindx.report.page.markup import Html, joined, json_script, prose, tag
from traindx.report.page.problem import badge, figure_with_key, findings_list, problem_article
from traindx.report.place_words import place_text
from traindx.report.summary import duration
from traindx.report.text import count, lasting, short
from traindx.report.titles import finding_title, symptom_title
from traindx.report.triage import grade
from traindx.report.wording import blind_spots, looks, minor, onset, percent, shown_problems

_SETTINGS_SHOWN = 16
_NOTES_SHOWN = 30
_NOTE_LONGEST = 400


def run_body(diagnosis: Diagnosis, name: str, limit: int) -> Html:
    """All about a run but its heading; `name` is its anchor, `limit` the most points of a curve."""
    run = diagnosis.run
    case = Case(run)
    charts = Charts(case, limit)
    parts: list[Html | None] = []
    if not shown_problems(diagnosis):
        figure = figure_with_key(charts.add(None, diagnosis.signs), name)
        parts.append(tag("section", tag("h2", "Curves"), figure, cls="card") if figure else None)
    for problem, anchor in zip(diagnosis.problems, _anchors(diagnosis, name), strict=True):
        figure = figure_with_key(charts.add(problem), name)
        parts.append(problem_article(problem, run, anchor, figure))
    return joined(
        _facts(run),
        _banner(diagnosis, name),
        *parts,
        inside_section(case, charts, name),
        _signs(diagnosis),
        _coverage(diagnosis.coverage, f"{name}-coverage"),
        _log_notes(run),
        json_script(charts.json(), f"{name}-charts"),
    )


def verdict_title(diagnosis: Diagnosis) -> str:
    """The verdict in a few words."""
    if diagnosis.verdict == "problem":
        number = len(shown_problems(diagnosis))
        return f"{number} problems found" if number > 1 else "Problem found"
    return "Healthy" if diagnosis.verdict == "healthy" else "No verdict: too little evidence"


def grade_class(diagnosis: Diagnosis) -> str:
    """The class that gives a run its colour."""
    return grade(diagnosis).replace(" ", "-")


def _anchors(diagnosis: Diagnosis, name: str) -> list[str]:
    return [f"{name}-problem-{number}" for number in range(1, len(diagnosis.problems) + 1)]


def _banner(diagnosis: Diagnosis, name: str) -> Html:
    """The verdict, and for each problem its likely cause and the first thing to do."""
    small = {id(problem) for problem in minor(diagnosis)}
    rows, links = [], []
    for problem, anchor in zip(diagnosis.problems, _anchors(diagnosis, name), strict=True):
        link = tag("a", symptom_title(problem.symptom), href=f"#{anchor}")
        if id(problem) in small:
            links.append(joined(link, " "))
        else:
            rows.append(_in_short(problem, diagnosis.run, link))
    looked = tag("a", looks(diagnosis.coverage), href=f"#{name}-coverage")
    return tag(
        "section",
        tag("h2", verdict_title(diagnosis), cls="verdict"),
        *rows,
        tag("ul", *(tag("li", prose(reason)) for reason in diagnosis.reasons)) if diagnosis.reasons else None,
        tag("p", "Worth knowing: ", *links, cls="where") if links else None,
        tag("p", looked, cls="where") if diagnosis.coverage else None,
        cls=f"banner {grade_class(diagnosis)}",
    )


def _in_short(problem: Problem, run: Run, link: Html) -> Html:
    head = joined(badge(problem.severity), " ", link, " ", tag("span", onset(problem, run), cls="where"))
    rows = []
    if problem.hypotheses:
        likely = problem.hypotheses[0]
        share = tag("span", percent(likely.confidence), cls="share")
        rows.append(("Most likely", joined(likely.title, " ", share)))
        if where := place_text(likely.place):
            rows.append(("Where", tag("code", where)))
        if likely.fixes:
            rows.append(("Fix first", prose(likely.fixes[0].summary)))
    pairs = [tag("div", tag("dt", term), tag("dd", text)) for term, text in rows]
    return tag("div", tag("p", head), tag("dl", *pairs) if pairs else None, cls="short")


def _facts(run: Run) -> Html:
    titles = {unit.id: unit.title for unit in readers()}
    told = [" + ".join(titles.get(part, part) for part in run.formats)]
    if run.last_step is not None:
        told.append(f"last {run.axis} {short(run.last_step)}")
    told.append(f"{count(len(run.series), 'series', 'series')}, {count(run.points, 'point')}")
    if seconds := duration(run):
        told.append(f"over {lasting(seconds)}")
    if run.traits:
        told.append("kind: " + ", ".join(sorted(run.traits)))
    known = [(key, value) for key, value in run.settings.items() if value is not None]
    chips = [
        tag("li", tag("span", key), " ", short(value) if isinstance(value, float) else str(value)[:60])
        for key, value in known[:_SETTINGS_SHOWN]
    ]
    facts = tag("p", " · ".join(told), cls="facts")
    return joined(facts, tag("ul", *chips, cls="settings") if chips else None)


def _signs(diagnosis: Diagnosis) -> Html | None:
    if not diagnosis.signs:
        return None
    listed = findings_list(diagnosis.signs, diagnosis.run)
    return tag("section", tag("h2", "Also noticed"), listed, cls="card")


def _coverage(coverage: Sequence[Check], anchor: str) -> Html | None:
    """What could not be looked at stands open, by what would let it."""
    if not coverage:
        return None
    blind = blind_spots(coverage)
    seen = [check.check for check in coverage if check.status == "ran" and check.seen]
    unseen = [check.check for check in coverage if check.status == "ran" and not check.seen]
    told = f"{looks(coverage)}, {len(seen):,} saw something."
    if blind:
        told += " What the others do not report says nothing about this run: they could not look."
    rows = [tag("tr", tag("td", needs), tag("td", _titles(checks))) for needs, checks in blind]
    head = tag("tr", tag("th", "What would let them", scope="col"), tag("th", "look for", scope="col"))
    return tag(
        "section",
        tag("h2", "What was looked at"),
        tag("p", told),
        tag("table", tag("thead", head), tag("tbody", *rows), cls="coverage") if rows else None,
        _names("Seen", seen),
        _names("Looked for and not seen", unseen),
        cls="card",
        id=anchor,
    )


def _names(title: str, checks: Sequence[str]) -> Html | None:
    if not checks:
        return None
    return tag("details", tag("summary", f"{title} ({len(checks):,})"), tag("p", _titles(checks)))


def _titles(checks: Sequence[str]) -> str:
    return ", ".join(map(finding_title, checks))


def _log_notes(run: Run) -> Html | None:
    """Events of the run and oddities of its log."""
    texts = [_event(event, run) for event in run.events[:_NOTES_SHOWN]]
    texts += [note.text for note in run.notes[:_NOTES_SHOWN]]
    if not texts:
        return None
    number = len(run.events) + len(run.notes)
    if number > len(texts):
        texts.append(f"and {number - len(texts):,} more")
    items = tag("ul", *(tag("li", text[:_NOTE_LONGEST]) for text in texts), cls="listed")
    return tag("details", tag("summary", f"Events and notes of the log ({number:,})"), items, cls="card")


def _event(event: Event, run: Run) -> str:
    at = "" if event.step is None else f"{run.axis} {short(event.step)}: "
    return f"{at}{event.kind.replace('_', ' ')}: {event.text}"
