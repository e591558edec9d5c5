"""One problem: what was seen, the causes that may be behind it, what to do and what not to do."""

from __future__ import annotations

import math
from collections.abc import Sequence

from traindx.core.nouns import Evidence, Finding, Fix, Hypothesis, Problem, Run
from traindx.report.page.charts import Chart
from traindx.report.page.markup import Html, joined, prose, tag
from traindx.report.page.patch import patch
from traindx.report.place_words import place_text, places_text
from traindx.report.text import short
from traindx.report.titles import symptom_title
from traindx.report.wording import at_step, bits, onset, percent

_ORDER = ("Fix first", "Then", "Or")


def problem_article(problem: Problem, run: Run, name: str, figure: Html | None) -> Html:
    """`name` is the anchor of the article."""
    facts = [fact for fact in (onset(problem, run),) if fact]
    if problem.also:
        facts.append("also: " + ", ".join(symptom_title(s) for s in problem.also))
    return tag(
        "article",
        tag("h2", symptom_title(problem.symptom), " ", badge(problem.severity)),
        tag("p", "; ".join(facts), cls="facts") if facts else None,
        tag("p", prose(problem.summary), cls="lead"),
        figure,
        _seen(problem, run),
        tag("h3", "Likely causes"),
        tag("ol", *_causes(problem, run), cls="causes"),
        _questions(problem.questions),
        cls=f"problem {problem.severity}",
        id=name,
    )


def badge(word: str) -> Html:
    return tag("span", word, cls=f"badge {word.replace(' ', '-')}")


def figure_with_key(chart: Chart | None, run: str) -> Html | None:
    """Room for a chart, which the page's script fills when it comes into view."""
    if chart is None:
        return None
    signs = [
        tag("li", tag("span", cls=f"sign {key.sign}", style=f"color:var(--{key.colour})"), key.name)
        for key in chart.key
    ]
    room = tag(
        "div",
        cls="chart",
        role="img",
        aria_label=chart.label,
        data_run=run,
        data_chart=chart.number,
        style=f"height:{chart.height}px",
    )
    return tag("figure", tag("ul", *signs, cls="key"), room)


def findings_list(findings: Sequence[Finding], run: Run) -> Html:
    rows = [
        joined(prose(f.text), " ", _at(places_text(f)), " ", _where(f.id, f.step, f.series, run))
        for f in findings
    ]
    return tag("ul", *(tag("li", row) for row in rows), cls="findings")


def _seen(problem: Problem, run: Run) -> Html | None:
    """What was seen beyond what the summary says already."""
    more = [finding for finding in problem.findings if finding.text != problem.summary]
    return joined(tag("h3", "What was seen"), findings_list(more, run)) if more else None


def _at(where: str) -> Html | None:
    return tag("code", where, cls="place") if where else None


def _where(finding: str, step: float | None, series: str | None, run: Run) -> Html:
    told = finding
    if step is not None:
        at = at_step(step, series, run)
        told += f", {at}" if " " in at else f", {run.axis} {at}"
    return tag("span", told, cls="where")


def _causes(problem: Problem, run: Run) -> list[Html]:
    made = [
        tag(
            "li",
            tag("details", _cause_head(hypothesis), *_cause_body(hypothesis, run), open=number == 0),
        )
        for number, hypothesis in enumerate(problem.hypotheses)
    ]
    if problem.rest >= 0.005 or not problem.hypotheses:
        row = (tag("span", "Something traindx does not know", cls="cause"), *_bar(problem.rest))
        made.append(tag("li", tag("div", *row, cls="head"), cls="rest"))
    return made


def _cause_head(hypothesis: Hypothesis) -> Html:
    return tag(
        "summary", tag("span", hypothesis.title, cls="cause"), *_bar(hypothesis.confidence), cls="head"
    )


def _bar(share: float) -> tuple[Html, Html]:
    width = f"width:{100 * min(max(share, 0.0), 1.0) if math.isfinite(share) else 0:.1f}%"
    return tag("span", tag("span", style=width), cls="bar", aria_hidden="true"), tag(
        "span", percent(share), cls="share"
    )


def _cause_body(hypothesis: Hypothesis, run: Run) -> list[Html | None]:
    return [
        tag("p", tag("code", hypothesis.cause), cls="id"),
        _block("Where", joined(_at(place_text(hypothesis.place)))) if hypothesis.place else None,
        _evidence(hypothesis, run),
        _fixes(hypothesis.fixes),
        _block("Confirm", prose(hypothesis.confirm)) if hypothesis.confirm else None,
        _block("Do not", tag("ul", *(tag("li", prose(one)) for one in hypothesis.avoid)), "avoid")
        if hypothesis.avoid
        else None,
        _reading(hypothesis),
    ]


def _evidence(hypothesis: Hypothesis, run: Run) -> Html:
    """What speaks for it, then what speaks against it."""
    for_it, against = hypothesis.evidence, hypothesis.against
    if not for_it and not against:
        return _block("Evidence", joined("None of its own: only how common this cause is."))
    total = sum(e.bits for e in (*for_it, *against))
    counts = [f"{len(for_it)} for it"] + ([f"{len(against)} against"] if against else [])
    told = f"{', '.join(counts)}, {bits(total)} bits in all"
    rows = [_weight(e, run, "for") for e in for_it] + [_weight(e, run, "against") for e in against]
    head = tag("summary", tag("b", "Evidence"), " ", tag("span", told, cls="where"))
    return tag("details", head, tag("ul", *rows, cls="evidence"), cls="block", open=True)


def _weight(evidence: Evidence, run: Run, side: str) -> Html:
    weight = bits(evidence.bits).replace("-", "\u2212") if evidence.bits else ""
    return tag(
        "li",
        tag("span", weight, cls=f"bits {side}", title="bits: each doubles the odds"),
        tag("span", prose(evidence.text), " ", _where(evidence.finding, evidence.step, evidence.series, run)),
    )


def _fixes(fixes: Sequence[Fix]) -> Html | None:
    blocks = []
    for number, fix in enumerate(fixes):
        settings = [tag("code", f"{name} = {_value(value)}") for name, value in fix.config.items()]
        text = joined(
            tag("span", prose(fix.summary)), *(joined(" ", setting) for setting in settings), patch(fix)
        )
        blocks.append(_block(_ORDER[min(number, 2)], text, "fix first" if number == 0 else "fix"))
    return joined(*blocks) if blocks else None


def _value(value: object) -> str:
    return short(value) if isinstance(value, float) else str(value)


def _block(title: str, body: Html, kind: str = "") -> Html:
    return tag("div", tag("h4", title), tag("div", body), cls=f"block {kind}".strip())


def _reading(hypothesis: Hypothesis) -> Html:
    pages = [tag("code", f"traindx explain {page}") for page in (hypothesis.cause, *hypothesis.sheets)]
    return tag("p", "Read more: ", *(joined(page, " ") for page in pages), cls="more")


def _questions(questions: Sequence[str]) -> Html | None:
    if not questions:
        return None
    return joined(
        tag("h3", "Questions whose answers would tell most"),
        tag("ul", *(tag("li", prose(one)) for one in questions), cls="questions"),
    )
