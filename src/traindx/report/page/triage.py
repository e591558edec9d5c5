"""Many runs at a glance: the worst first, each with its likely cause and what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from traindx.core.nouns import SEVERITIES, Diagnosis
from traindx.report.page.markup import Html, joined, prose, tag
from traindx.report.page.problem import badge
from traindx.report.page.run import verdict_title
from traindx.report.titles import symptom_title
from traindx.report.triage import grade
from traindx.report.wording import onset, percent

_GRADES = (*SEVERITIES, "problem", "no verdict", "healthy")
_HEADS = ("Run", "State", "Problem", "Most likely", "Fix first")


def triage(diagnoses: Sequence[Diagnosis], names: Sequence[str], detailed: int) -> Html:
    """A table whose rows lead to the runs; only the first `detailed` of them stand below."""
    counts = Counter(map(grade, diagnoses))
    told = [tag("li", badge(word), f" {counts[word]:,}") for word in _GRADES if counts[word]]
    rows = [
        _row(diagnosis, name, f"#run-{number}" if number <= detailed else None)
        for number, (diagnosis, name) in enumerate(zip(diagnoses, names, strict=True), start=1)
    ]
    head = tag("tr", *(tag("th", title, scope="col") for title in _HEADS))
    search = tag("input", type="search", id="filter", placeholder="Filter", aria_label="Filter the runs")
    left = f"The {detailed:,} worst runs stand below in full; diagnose a run alone to see all about it."
    return tag(
        "section",
        tag("h1", f"{len(diagnoses):,} runs"),
        tag("ul", *told, cls="counts"),
        search,
        tag("table", tag("thead", head), tag("tbody", *rows), cls="triage"),
        tag("p", left, cls="where") if detailed < len(diagnoses) else None,
        cls="card",
    )


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the folder that all of them share."""
    shared = 0
    for parts in zip(*(name.split("/")[:-1] for name in names), strict=False):
        if len(set(parts)) > 1:
            break
        shared += len(parts[0]) + 1
    return [name[shared:] for name in names]


def run_heading(diagnosis: Diagnosis, name: str) -> Html:
    """The line under which a run of many is folded away."""
    said = verdict_title(diagnosis)
    if diagnosis.verdict == "problem" and diagnosis.problems:
        said = symptom_title(diagnosis.problems[0].symptom)
    title = tag("h2", name, cls="name")
    return joined(badge(grade(diagnosis)), " ", title, " ", tag("span", said, cls="where"))


def _row(diagnosis: Diagnosis, name: str, link: str | None) -> Html:
    lead = tag("span", name) if link is None else tag("a", name, href=link)
    cells = [("Run", lead), ("State", badge(grade(diagnosis)))]
    if diagnosis.verdict == "problem":
        cells += _problem_cells(diagnosis)
        empty = [tag("td", cls="empty")] * (len(_HEADS) - len(cells))
        return tag("tr", *(_cell(label, body) for label, body in cells), *empty)
    reason = prose(diagnosis.reasons[0]) if diagnosis.reasons else joined(verdict_title(diagnosis))
    return tag("tr", *(_cell(label, body) for label, body in cells), _cell("Why", reason, colspan=3))


def _cell(label: str, body: Html, colspan: int | None = None) -> Html:
    """Its label stands beside it where the table is too wide for the screen."""
    return tag("td", tag("div", body), data_label=label, colspan=colspan)


def _problem_cells(diagnosis: Diagnosis) -> list[tuple[str, Html]]:
    if not diagnosis.problems:
        return []
    first, *others = diagnosis.problems
    beside = [onset(first, diagnosis.run), f"and {len(others):,} more" if others else ""]
    more = tag("span", ", ".join(filter(None, beside)), cls="where")
    cells = [("Problem", joined(symptom_title(first.symptom), " ", more))]
    if first.hypotheses:
        likely = first.hypotheses[0]
        share = tag("span", percent(likely.confidence), cls="where share")
        cells.append(("Most likely", joined(likely.title, " ", share)))
        if likely.fixes:
            cells.append(("Fix first", prose(likely.fixes[0].summary)))
    return cells
