"""A treatment as a document: the verdict, before and after, the trials, the change, what else to do."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.knowledge.catalogue import causes, remedies, symptoms
from traindx.report import document as doc
from traindx.report.diagnosis import run_blocks
from traindx.report.document import code, listed
from traindx.report.layout import Screen
from traindx.report.places import diff_lines, place_text
from traindx.report.side_by_side import SideBySide
from traindx.report.text import percent, short
from traindx.report.to_html import page
from traindx.report.to_markdown import markdown
from traindx.report.to_terminal import lines

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Run
    from traindx.experiment.treat.remedy_verdict import TrialVerdict as Judged
    from traindx.experiment.treat.results import Round, Treated, Trial

# The word on a terminal, its colour, and the same as a heading.
_STATUS = {
    "healthy": ("HEALTHY", "healthy", "Healthy: nothing was changed"),
    "treated": ("TREATED", "healthy", "Fixed, and proven on the edited script"),
    "improved": ("IMPROVED", "medium", "Improved, and proven on the edited script, but not fixed"),
    "instructed": ("BY HAND", "medium", "What helps is known; the edit is yours"),
    "not treated": ("NOT FIXED", "critical", "Not fixed"),
    "unclear": ("UNCLEAR", "no-verdict", "Could not be judged"),
}
_LOOKS = {"helped": "good", "hurt": "alarm", "no difference": "muted", "cannot tell": "muted"}
_ABOUT = (
    "A pair is the same seed and the same data without and with the change. The interval is of the mean gain "
    "over the pairs; p is exact, of the sign-flip test. Helped is said only where every pair says so."
)


def treatment_page(treated: Treated, patch: str) -> str:
    """`report.html`."""
    return page(_document(treated, patch, charts=True))


def treatment_markdown(treated: Treated, patch: str) -> str:
    """`diagnostic_report.md`: what was wrong, what was tried, what helped, how surely."""
    return markdown(_document(treated, patch, charts=False))


def _document(treated: Treated, patch: str, *, charts: bool) -> doc.Document:
    blocks = tuple(_blocks(treated, patch, charts))
    return doc.Document(("Treatment of ", code(treated.script)), "treatment", blocks, _ABOUT)


def _blocks(treated: Treated, patch: str, charts: bool) -> Iterator[doc.Block]:
    _, look, title = _STATUS[treated.status]
    yield doc.Verdict(title, (treated.summary,), look, tuple(_in_short(treated)))
    drawn = _before_and_after(treated) if charts else None
    if drawn is not None:
        yield doc.Section("Before and after", (drawn,), "card")
    if patch or treated.new_args is not None:
        blocks: list[doc.Block] = [doc.Diff(tuple(diff_lines(patch)))] if patch else []
        if treated.new_args is not None:
            blocks.append(doc.Text(("Command line: ", code(shlex.join(treated.new_args)))))
        yield doc.Section("The change", tuple(blocks), "card")
    for number, one in enumerate(treated.rounds, 1):
        title = f"Round {number}" if len(treated.rounds) > 1 else "Trials"
        yield doc.Section(title, tuple(_round(one)), "card")
    for name, when, diagnosis in (("before", "before", treated.before), ("after", "after", treated.final)):
        if diagnosis is not None:
            yield _diagnosis(diagnosis, name, when, charts)


def _in_short(treated: Treated) -> Iterator[doc.Block]:
    """The cause, what the change brought, and what that cost."""
    planned = next((one.plan[0] for one in treated.rounds if one.plan), None)
    if planned is not None:
        title = causes()[planned.cause].title if planned.cause in causes() else planned.cause
        yield doc.Labelled("cause", f"{title} ({percent(planned.confidence)})")
    proofs = tuple(one.proof.verdict.text for one in treated.rounds if one.proof is not None)
    if proofs:
        yield doc.Items(proofs, "proof")
    yield doc.Labelled("cost", f"{treated.cost.text}.")


def _before_and_after(treated: Treated) -> doc.Chart | None:
    before = [outcome.run for outcome in treated.baseline if outcome.run is not None]
    after = [outcome.run for outcome in treated.after if outcome.run is not None]
    groups: dict[str, list[Run]] = {
        name: runs for name, runs in (("before", before), ("after", after)) if runs
    }
    drawn = SideBySide(groups).curves() if groups else None
    text = "Repeats with other seeds are a band from the lowest to the highest; the line is their middle."
    return doc.Chart(drawn, 0, "", text) if drawn is not None else None


def _diagnosis(diagnosis: Diagnosis, name: str, when: str, charts: bool) -> doc.Section:
    body = run_blocks(diagnosis, name, charts=charts)
    return doc.Section(f"The diagnosis {when}", body, "run", name, folded=True, own_charts=True)


def _round(one: Round) -> Iterator[doc.Block]:
    if one.plan:
        first = one.plan[0]
        title = causes()[first.cause].title if first.cause in causes() else first.cause
        share = f"), {percent(first.confidence)}."
        yield doc.Text((f"Likeliest cause: {title} (", code(first.cause), share))
    if one.trials:
        columns = (
            doc.TableColumn("change"),
            doc.TableColumn("remedy"),
            doc.TableColumn("steps", "right"),
            doc.TableColumn("gain", "right"),
            doc.TableColumn("95 % interval", "right"),
            doc.TableColumn("p", "right"),
            doc.TableColumn("verdict", wrap=True),
        )
        yield doc.DocumentTable(columns, tuple(map(_trial, one.trials)), look="trials")
    if one.edited is not None:
        yield doc.Labelled("edit", one.edited.text)
    if one.proof is not None:
        word = "shows the gain" if one.proof.reproduced else "does not show the gain"
        yield doc.Labelled("proof", f"The edited script, run as it is, {word}: {one.proof.verdict.text}")
        yield from _new_problems(one.proof.verdict)
    if one.instruction is not None:
        where = place_text(one.instruction.place)
        yield doc.Labelled("by hand", one.instruction.text + (f" ({where})" if where else ""))
    if one.winner is not None:
        page = remedies().get(one.winner.candidate.remedy)
        if page is not None and page.expect:
            yield doc.Labelled("expected", page.expect)
        measured = one.proof.expected if one.proof is not None else one.winner.expected
        if measured:
            yield doc.Items(tuple(expectation.line for expectation in measured), "measured")


def _new_problems(judged: Judged) -> Iterator[doc.Block]:
    for problem in judged.new_problems:
        yield doc.Labelled("new in it", code(problem))


def _trial(trial: Trial) -> tuple[doc.Prose, ...]:
    judged = trial.verdict
    head = (code(trial.candidate.name), trial.candidate.title, f"{trial.steps:,}" if trial.steps else "")
    if judged is None:
        return (*head, "", "", "", trial.text)
    difference = judged.difference
    interval = f"{short(difference.low)} to {short(difference.high)}"
    several = len(judged.pairs) > 1
    numbers = (short(judged.gain), interval if several else "", f"{difference.p:.2g}" if several else "")
    return (*head, *numbers, doc.Span(trial.text, look=_LOOKS.get(judged.word, "")))


def recommendations(treated: Treated) -> str:
    """`optimization_recommendations.md`: what else is worth doing, each with its gain."""
    kept = {one.winner.candidate.remedy for one in treated.rounds if one.winner is not None}
    tried = [trial for one in treated.rounds for trial in one.trials]
    helped = [trial for trial in tried if trial.helped and trial.candidate.remedy not in kept]
    blocks: list[doc.Block] = list(
        listed(
            "Measured", [(f"{t.candidate.title} (", code(t.candidate.name), f"): {t.text}") for t in helped]
        )
    )
    blocks += listed("Expected, not measured", _untried(treated))
    failed = [(code(t.candidate.name), f": {t.text}") for t in tried if not t.helped]
    blocks += listed("Tried without gain", failed)
    blocks = blocks or [doc.Text("Nothing was found that is worth a change.")]
    title = ("What else is worth doing for ", code(treated.script))
    return markdown(doc.Document(title, "recommendations", tuple(blocks)))


def _untried(treated: Treated) -> Iterator[doc.Prose]:
    """Fixes of what is left, that no trial has tried."""
    diagnosis = treated.final or treated.before
    if diagnosis is None:
        return
    seen = {trial.candidate.remedy for one in treated.rounds for trial in one.trials}
    for problem in diagnosis.problems:
        for cause in problem.hypotheses[:2]:
            for fix in cause.fixes:
                if fix.remedy not in seen:
                    seen.add(fix.remedy)
                    why = f" ({percent(cause.confidence)}). Expect: {remedies()[fix.remedy].expect}"
                    yield f"{fix.summary} For ", code(cause.cause), why


def ending(treated: Treated, patch: str, written: Sequence[Path], screen: Screen) -> list[str]:
    """The last lines of `traindx treat`."""
    return ["", *lines(_ending(treated, patch, written), screen)]


def _ending(treated: Treated, patch: str, written: Sequence[Path]) -> Iterator[doc.Block]:
    word, look, _ = _STATUS[treated.status]
    yield doc.Verdict(word, (treated.summary,), look)
    if patch:
        yield doc.Diff(tuple(diff_lines(patch)), "change")
    if treated.new_args is not None:
        yield doc.Labelled("command", shlex.join(treated.new_args))
    hands = tuple(one.instruction.text for one in treated.rounds if one.instruction is not None)
    if hands:
        yield doc.Items(hands, "by hand")
    if treated.status == "healthy":
        yield from _slight(treated)
    yield doc.Labelled("cost", treated.cost.text)
    if written:
        names = ", ".join(path.name for path in written)
        yield doc.Labelled("written", doc.Span(f"{written[0].parent}{os.sep}: {names}"))
    if patch and written:
        apply = f"git apply {shlex.quote(f'{written[0].parent}/fix.patch')}, or traindx treat --apply"
        yield doc.Labelled("next", doc.Span(apply), "bold")


def _slight(treated: Treated) -> Iterator[doc.Block]:
    """What is too slight to be treated unasked, and how to try something for it."""
    for problem in treated.before.problems if treated.before is not None else ():
        able = [fix.remedy for fix in problem.hypotheses[0].fixes if fix.trials] if problem.hypotheses else []
        if able:
            command = shlex.join(["traindx", "try", able[0], os.path.relpath(treated.script)])
            yield doc.Labelled(
                "slight", f"{symptoms()[problem.symptom].title}. To try something for it: {command}"
            )
