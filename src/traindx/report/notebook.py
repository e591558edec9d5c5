"""A diagnosis inside a notebook: compact HTML that needs nothing but itself.

Notebooks that are opened again, and the sites that show them, drop scripts, style sheets and drawings,
some even style attributes. So there are none of the former, colours do on light and dark pages alike, and
what is left without style still reads from top to bottom.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence

from traindx.core.nouns import Diagnosis, Evidence, Fix, Hypothesis, Problem, Run
from traindx.core.units import readers
from traindx.evidence.case import Case
from traindx.report.diagnosis_terminal import render_diagnosis
from traindx.report.inside_words import inside_sentences
from traindx.report.layout import Screen
from traindx.report.page.markup import Html, joined, prose, tag
from traindx.report.page.patch import patch
from traindx.report.picture import BLUE, GREEN, GREY, ORANGE, RED, picture
from traindx.report.place_words import place_text, placed_text
from traindx.report.text import count, encodable, short, visible
from traindx.report.titles import symptom_title
from traindx.report.triage import grade
from traindx.report.wording import (
    at_step,
    bits,
    blind_spots,
    further_signs,
    looks,
    minor,
    onset,
    percent,
    sentence,
    shown_problems,
    verdict_sentences,
    verdict_word,
)

_CAUSES_SHOWN = 4
_EVIDENCE_SHOWN = 6
_BAR = 120
_COLOURS = {"critical": RED, "high": RED, "medium": ORANGE, "low": GREY, "healthy": GREEN}
_CELL = "text-align:left;vertical-align:top;padding:2px 10px 2px 0;border:0"
_NUMBER = "text-align:right;vertical-align:top;padding:2px 10px 2px 0;border:0;white-space:nowrap"


def text(diagnosis: Diagnosis) -> str:
    """What a front end without HTML shows: the report of the terminal without its colours."""
    return "\n".join(render_diagnosis(diagnosis, everything=False, screen=Screen()))


def html(diagnosis: Diagnosis) -> str:
    """What a notebook shows."""
    case = Case(diagnosis.run)
    colour = _COLOURS.get(grade(diagnosis), GREY)
    problems = shown_problems(diagnosis)
    body = tag(
        "div",
        *_verdict(diagnosis, colour),
        tag("div", _facts(diagnosis.run), style="font-size:90%;opacity:0.75"),
        *(_problem(problem, case) for problem in problems),
        None if problems else _image(case, None, diagnosis),
        None if problems else _list(diagnosis.reasons),
        _noticed(diagnosis),
        _inside(diagnosis),
        _coverage(diagnosis),
        style=f"border-left:4px solid {colour};padding:4px 0 4px 14px;max-width:760px;line-height:1.45",
    )
    return encodable(body)


def _verdict(diagnosis: Diagnosis, colour: str) -> list[Html]:
    first, *others = verdict_sentences(diagnosis)
    word = tag("strong", verdict_word(diagnosis), style=f"color:{colour}")
    lines = [tag("div", word, ": ", tag("strong", first), style="font-size:115%")]
    return [*lines, *(tag("div", "also: ", other) for other in others)]


def _facts(run: Run) -> str:
    titles = {unit.id: unit.title for unit in readers()}
    facts = [visible(run.name, 100), " + ".join(titles.get(part, part) for part in run.formats)]
    facts += [count(len(run.series), "series", "series"), count(run.points, "point")]
    if run.last_step is not None:
        facts.append(f"last {run.axis} {short(run.last_step)}")
    return " · ".join(facts)


def _problem(problem: Problem, case: Case) -> Html:
    run = case.run
    colour = _COLOURS[problem.severity]
    title = [symptom_title(problem.symptom), " · ", tag("span", problem.severity, style=f"color:{colour}")]
    when = onset(problem, run)
    first = problem.hypotheses[0] if problem.hypotheses else None
    return tag(
        "div",
        tag("h4", *title, f" · {when}" if when else None, style="margin:14px 0 4px"),
        tag("div", prose(problem.summary)),
        tag("div", "Also seen: ", ", ".join(map(symptom_title, problem.also))) if problem.also else None,
        _image(case, problem, None),
        _causes(problem),
        _located(first) if first else None,
        _evidence(first, problem.summary, run) if first else None,
        _fixes(first.fixes) if first else None,
        _more(problem),
    )


def _image(case: Case, problem: Problem | None, diagnosis: Diagnosis | None) -> Html | None:
    drawn = picture(case, problem, diagnosis.signs if diagnosis else ())
    if drawn is None:
        return None
    data = base64.b64encode(encodable(drawn.svg).encode()).decode()
    return tag(
        "div",
        tag(
            "img",
            src=f"data:image/svg+xml;base64,{data}",
            alt=drawn.text,
            width=drawn.width,
            height=drawn.height,
            style="max-width:100%;height:auto;margin:8px 0",
        ),
    )


def _causes(problem: Problem) -> Html:
    """The differential: what is not listed is the last row."""
    shown = problem.hypotheses[:_CAUSES_SHOWN]
    rows = [_share(one.confidence, tag("strong" if one is shown[0] else "span", one.title)) for one in shown]
    rest = 1.0 - sum(one.confidence for one in shown)
    if rest >= 0.005 or not shown:
        others = len(problem.hypotheses) - len(shown)
        known = f"{count(others, 'other cause')} or " if others else ""
        rows.append(_share(rest, tag("span", f"{known}something traindx does not know")))
    return tag("table", tag("tbody", *rows), style="border-collapse:collapse;margin:4px 0")


def _share(share: float, title: Html) -> Html:
    width = round(_BAR * min(max(share, 0.0), 1.0)) if share == share else 0
    bar = tag("div", style=f"width:{max(width, 1)}px;height:8px;background-color:{BLUE};margin-top:6px")
    return tag(
        "tr",
        tag("td", percent(share), style=_NUMBER),
        tag("td", bar, style=f"{_CELL};width:{_BAR}px"),
        tag("td", title, style=_CELL),
    )


def _located(first: Hypothesis) -> Html | None:
    where = place_text(first.place)
    return tag("div", "Where: ", tag("code", where)) if where else None


def _evidence(first: Hypothesis, summary: str, run: Run) -> Html:
    """What was measured, strongest first; what speaks against the cause stands below."""
    signs = [item for item in first.evidence if item.bits or item.text != summary]
    items = (*signs, *first.against)
    if not items:
        return tag("div", "Evidence: none of its own, only how common this cause is.")
    rows = [_weighed(item, run) for item in items]
    total = bits(sum(item.bits for item in items))
    told = f"Evidence: {count(len(signs), 'sign')} for it, {len(first.against):,} against, {total} bits"
    table = tag("table", tag("tbody", *rows[:_EVIDENCE_SHOWN]), style="border-collapse:collapse")
    further = tag("table", tag("tbody", *rows[_EVIDENCE_SHOWN:])) if rows[_EVIDENCE_SHOWN:] else None
    more = _details(f"{len(rows) - _EVIDENCE_SHOWN:,} more", further) if further else None
    return _details(told, table, more, is_open=True)


def _weighed(item: Evidence, run: Run) -> Html:
    where = at_step(item.step, item.series, run) if item.step is not None else ""
    where = f"{run.axis} {where}" if where and " " not in where else where
    place = tag("small", where, style="opacity:0.7;white-space:nowrap")
    return tag(
        "tr",
        tag("td", bits(item.bits) if item.bits else "", style=_NUMBER),
        tag("td", prose(item.text), " ", place, style=_CELL),
    )


def _fixes(fixes: Sequence[Fix]) -> Html | None:
    if not fixes:
        return None
    items = []
    for fix in fixes:
        settings = [tag("code", f"{key} = {_value(value)}") for key, value in fix.config.items()]
        told = (joined(" ", setting) for setting in settings)
        items.append(tag("li", prose(fix.summary), *told, patch(fix, styled=False)))
    return joined(
        tag("div", tag("strong", "What to do"), style="margin-top:6px"),
        tag("ol", *items, style="margin:2px 0 6px;padding-left:24px"),
    )


def _value(value: object) -> str:
    return short(value) if isinstance(value, float) else visible(str(value), 60)


def _more(problem: Problem) -> Html | None:
    """How to confirm the first cause, what not to do, the other causes, what to ask."""
    first, others = (problem.hypotheses[0], problem.hypotheses[1:]) if problem.hypotheses else (None, ())
    parts: list[Html | None] = []
    if first is not None:
        confirm = [first.confirm] if first.confirm else []
        parts += [_titled("How to confirm it", confirm), _titled("What not to do", first.avoid)]
    parts.append(_titled("Other causes", [_alternative(other) for other in others[:_CAUSES_SHOWN]]))
    parts.append(_titled("What to ask next", problem.questions))
    if first is not None:
        pages = " ".join((first.cause, *first.sheets))
        parts.append(tag("div", "To read: ", tag("code", f"traindx explain {pages.split()[0]}")))
    return _details("How to confirm it, what not to do, other causes", *parts) if any(parts) else None


def _alternative(other: Hypothesis) -> Html:
    told = [(f"{other.title} ({percent(other.confidence)})", "")]
    told += [("for it: ", other.evidence[0].text)] if other.evidence else []
    told += [("against it: ", other.against[0].text)] if other.against else []
    told += [("fix: ", other.fixes[0].summary)] if other.fixes else []
    parts = [
        joined("; " if number else "", head, prose(said.rstrip(".")))
        for number, (head, said) in enumerate(told)
    ]
    return joined(*parts, ".")


def _noticed(diagnosis: Diagnosis) -> Html | None:
    texts = [joined(sentence(one, diagnosis.run), ". ", prose(one.summary)) for one in minor(diagnosis)]
    texts += [prose(placed_text(sign)) for sign in further_signs(diagnosis)]
    return _details(f"Other things noticed ({len(texts):,})", _list(texts)) if texts else None


def _inside(diagnosis: Diagnosis) -> Html | None:
    told = inside_sentences(diagnosis, everything=True)
    texts = [joined(tag("strong", name), ": ", prose(text)) for name, text in told]
    return _details("Inside the training", _list(texts)) if texts else None


def _coverage(diagnosis: Diagnosis) -> Html | None:
    if not diagnosis.coverage:
        return None
    blind = blind_spots(diagnosis.coverage)
    told = [joined(prose(need), ": ", ", ".join(checks)) for need, checks in blind]
    missing = sum(len(checks) for _, checks in blind)
    if not missing:
        return tag("div", f"{looks(diagnosis.coverage)}.", style="opacity:0.75")
    lead = tag("div", "They would need:")
    return _details(f"{looks(diagnosis.coverage)}, {missing:,} could not", lead, _list(told))


def _titled(title: str, texts: Sequence[str]) -> Html | None:
    return joined(tag("div", tag("strong", title)), _list(texts)) if texts else None


def _list(texts: Sequence[str]) -> Html | None:
    items = [tag("li", text if isinstance(text, Html) else prose(text)) for text in texts]
    return tag("ul", *items, style="margin:2px 0 6px;padding-left:20px") if items else None


def _details(title: str, *parts: Html | None, is_open: bool = False) -> Html:
    inside = tag("div", *parts, style="padding-left:14px")
    return tag("details", tag("summary", title, style="cursor:pointer"), inside, open=is_open)
