"""A treatment as Markdown: the report, and what else is worth doing."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from typing import TYPE_CHECKING

from traindx import __version__
from traindx.knowledge.catalogue import causes, remedies
from traindx.report.diagnosis_markdown import markdown as diagnosis_page
from traindx.report.markdown_text import code, escaped, fenced, table
from traindx.report.place_words import diff_lines
from traindx.report.wording import percent

if TYPE_CHECKING:
    from traindx.experiment.treat.results import Round, Treated

TITLES = {
    "healthy": "Healthy: nothing was changed",
    "treated": "Treated, and proven on the edited script",
    "improved": "Improved, and proven on the edited script, but not mended",
    "instructed": "What helps is known; the edit is yours",
    "not treated": "Not mended",
    "unclear": "Could not be judged",
}


def report(treated: Treated, patch: str) -> str:
    """`diagnostic_report.md`: what was wrong, what was tried, what helped, how surely."""
    lines = [
        f"# Treatment of {code(treated.script)}",
        "",
        f"**{TITLES[treated.status]}.** {escaped(treated.said)}",
    ]
    lines += ["", f"Cost: {treated.cost.text}."]
    for number, one in enumerate(treated.rounds, 1):
        lines += ["", f"## Round {number}" if len(treated.rounds) > 1 else "## Trials", "", *_round(one)]
    if patch:
        lines += ["", "## The change", "", *fenced(diff_lines(patch), "diff")]
    if treated.new_args is not None:
        lines += ["", f"Command line: {code(shlex.join(treated.new_args))}"]
    if treated.before is not None:
        lines += ["", "## The diagnosis before", "", *_nested(diagnosis_page([treated.before]))]
    if treated.final is not None:
        lines += ["", "## The diagnosis after", "", *_nested(diagnosis_page([treated.final]))]
    return "\n".join(lines) + "\n"


def _nested(page: str) -> Iterator[str]:
    """A page inside another: its headings two levels deeper, its first and last lines left out."""
    fence = False
    for line in page.splitlines()[1:-1]:
        fence ^= line.startswith("```")
        yield f"##{line}" if line.startswith("#") and not fence else line


def _round(one: Round) -> Iterator[str]:
    first = one.plan[0] if one.plan else None
    if first is not None:
        title = causes()[first.cause].title if first.cause in causes() else first.cause
        share = escaped(percent(first.confidence))
        yield f"Likeliest cause: {escaped(title)} ({code(first.cause)}), {share}."
        yield ""
    if one.trials:
        yield from table(
            ["remedy", "change", "steps", "verdict"],
            [
                [code(t.candidate.remedy), code(t.candidate.name), str(t.steps or ""), escaped(t.text)]
                for t in one.trials
            ],
            right=[2],
        )
        yield ""
    if one.edited is not None:
        yield f"Edit: {escaped(one.edited.text)}"
    if one.proof is not None:
        word = "shows the gain" if one.proof.reproduced else "does not show the gain"
        yield f"The edited script, run as it is, {word}: {escaped(one.proof.verdict.text)}"
        for problem in one.proof.verdict.new_problems:
            yield f"New in it: {code(problem)}."
    if one.instruction is not None:
        place = one.instruction.place
        where = f" ({place.file}:{place.line})" if place is not None and place.line else ""
        yield f"To do by hand: {escaped(one.instruction.text + where)}"
    if one.winner is not None:
        page = remedies().get(one.winner.candidate.remedy)
        if page is not None and page.expect:
            yield ""
            yield f"Expected of it: {escaped(page.expect)}"
            measured = one.proof.expected if one.proof is not None else one.winner.expected
            yield ""
            yield from (f"- {escaped(expectation.line)}" for expectation in measured)


def recommendations(treated: Treated) -> str:
    """`optimization_recommendations.md`: what else is worth doing, each with its gain."""
    lines = [f"# What else is worth doing for {code(treated.script)}", ""]
    kept = {one.winner.candidate.remedy for one in treated.rounds if one.winner is not None}
    tried = [trial for one in treated.rounds for trial in one.trials]
    helped = [trial for trial in tried if trial.helped and trial.candidate.remedy not in kept]
    if helped:
        lines += ["## Measured", ""]
        lines += [
            f"- {escaped(t.candidate.title)} ({code(t.candidate.name)}): {escaped(t.text)}" for t in helped
        ]
        lines += [""]
    told = list(_expected(treated))
    if told:
        lines += ["## Expected, not measured", "", *told, ""]
    failed = [trial for trial in tried if not trial.helped]
    if failed:
        lines += ["## Tried without gain", ""]
        lines += [f"- {code(t.candidate.name)}: {escaped(t.text)}" for t in failed]
        lines += [""]
    if not (helped or told or failed):
        lines += ["Nothing was found that is worth a change.", ""]
    return "\n".join([*lines, f"Written by traindx {__version__}."]) + "\n"


def _expected(treated: Treated) -> Iterator[str]:
    """Fixes of what is left, that no trial has tried."""
    diagnosis = treated.final or treated.before
    if diagnosis is None:
        return
    tried = {trial.candidate.remedy for one in treated.rounds for trial in one.trials}
    seen: set[str] = set()
    for problem in diagnosis.problems:
        for hypothesis in problem.hypotheses[:2]:
            for fix in hypothesis.fixes:
                if fix.remedy in tried | seen:
                    continue
                seen.add(fix.remedy)
                expect = remedies()[fix.remedy].expect
                why = f"For {code(hypothesis.cause)} ({escaped(percent(hypothesis.confidence))})."
                yield f"- {escaped(fix.summary)} {why} Expect: {escaped(expect)}"
