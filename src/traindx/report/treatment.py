"""A treatment as a document: the verdict, before and after, the trials, the change, what else to do."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.knowledge.catalogue import remedies, symptoms
from traindx.report import document as doc
from traindx.report.diagnosis import run_blocks
from traindx.report.document import code, listed
from traindx.report.layout import Screen
from traindx.report.places import diff_lines, place_text
from traindx.report.side_by_side import SideBySide
from traindx.report.text import percent, short
from traindx.report.titles import cause_title
from traindx.report.to_html import page
from traindx.report.to_markdown import markdown
from traindx.report.to_terminal import lines
from traindx.report.treatment_advice import recommendation_blocks

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis, Run
    from traindx.experiment.treat.before_after import BeforeAfter, ScoreChange
    from traindx.experiment.treat.results import Proof, Round, Treated, Trial

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
_CAUSES_SHOWN = 3
# What is in each file that a treatment writes.
_FILES = {
    "diagnostic_report.md": "this report",
    "fix.patch": "the proven change, for git apply",
    "fixed_": "the script with the proven change",
    "training_history.json": "the runs before",
    "training_history_fixed.json": "the runs after",
    "training_comparison.png": "curves before and after",
    "optimization_recommendations.md": "what else is worth doing",
    "treated_model": "the treated model",
    "results.json": "everything for programs",
    "report.html": "this report as a page with charts",
}
_ABOUT = (
    "A pair is the same seed and the same data without and with the change. The interval is of the mean gain "
    "over the pairs; p is exact, of the sign-flip test. Helped is said only where every pair says so."
)


def treatment_page(treated: Treated, patch: str, files: Sequence[str] = ()) -> str:
    """`report.html`."""
    return page(_document(treated, patch, files, charts=True))


def treatment_markdown(treated: Treated, patch: str, files: Sequence[str] = ()) -> str:
    """`diagnostic_report.md`: issues, causes, fixes, results, recommendations, files, and the trials."""
    return markdown(_document(treated, patch, files, charts=False))


def _document(treated: Treated, patch: str, files: Sequence[str], *, charts: bool) -> doc.Document:
    blocks = tuple(_blocks(treated, patch, files, charts))
    return doc.Document(("Treatment of ", code(treated.script)), "treatment", blocks, _ABOUT)


def _blocks(treated: Treated, patch: str, files: Sequence[str], charts: bool) -> Iterator[doc.Block]:
    _, look, title = _STATUS[treated.status]
    yield doc.Verdict(title, (treated.summary,), look, tuple(_in_short(treated)))
    yield from listed("Original issues", _issues(treated.before), "card")
    yield from listed("Root causes", _root_causes(treated.before), "card")
    fixes = tuple(_applied(treated, patch))
    if fixes:
        yield doc.Section("Applied fixes", fixes, "card")
    yield from _results(treated, charts)
    yield doc.Section("Recommendations", tuple(recommendation_blocks(treated)), "card")
    yield from listed("When to stop", treated.stop, "card")
    for number, trial_round in enumerate(treated.rounds, 1):
        title = f"Round {number}" if len(treated.rounds) > 1 else "Trials"
        yield doc.Section(title, tuple(_round(trial_round)), "card")
    yield from listed("Files", [(code(name), f": {_FILES[_kind(name)]}") for name in files], "card")
    for when, diagnosis in (("before", treated.before), ("after", treated.final)):
        if diagnosis is not None:
            body = run_blocks(diagnosis, when, charts=charts)
            yield doc.Section(f"The diagnosis {when}", body, "run", when, folded=True, own_charts=True)


def _issues(diagnosis: Diagnosis | None) -> Iterator[doc.Prose]:
    for problem in diagnosis.problems if diagnosis is not None else ():
        yield doc.strong(symptoms()[problem.symptom].title), f" ({problem.severity}): {problem.summary}"


def _root_causes(diagnosis: Diagnosis | None) -> Iterator[doc.Prose]:
    """The likeliest causes of each problem with the strongest evidence for each."""
    for problem in diagnosis.problems if diagnosis is not None else ():
        for cause in problem.hypotheses[:_CAUSES_SHOWN]:
            evidence = next((item.text for item in cause.evidence if item.text != problem.summary), "")
            yield doc.strong(cause.title), f" ({percent(cause.confidence)}){evidence and f': {evidence}'}"


def _applied(treated: Treated, patch: str) -> Iterator[doc.Block]:
    proven = [
        trial_round.edited.text
        for trial_round in treated.rounds
        if trial_round.proven and trial_round.edited is not None
    ]
    if proven:
        yield doc.Items(tuple(proven))
    if patch:
        yield doc.Diff(tuple(diff_lines(patch)))
    if treated.new_args is not None:
        yield doc.Text(("Command line: ", code(shlex.join(treated.new_args))))


def _results(treated: Treated, charts: bool) -> Iterator[doc.Block]:
    """Before, after and improvement of every loss and score, at the end and at its best; the success."""
    scores = treated.scores
    blocks: list[doc.Block] = []
    if scores.changes:
        columns = (
            doc.TableColumn(""),
            doc.TableColumn("Before", "right"),
            doc.TableColumn("After", "right"),
            doc.TableColumn("Improvement", "right"),
        )
        blocks.append(doc.DocumentTable(columns, tuple(_score_rows(scores))))
        blocks.append(doc.Items(tuple(criterion.line for criterion in scores.criteria), "success"))
    chart = _before_and_after(treated) if charts else None
    if chart is not None:
        blocks.append(chart)
    if blocks:
        title = (
            "Results" if treated.proven or not scores.changes else "Results of the best trial (not applied)"
        )
        yield doc.Section(title, tuple(blocks), "card")


def _score_rows(scores: BeforeAfter) -> Iterator[tuple[doc.Prose, ...]]:
    for change in scores.changes:
        for when, values, gain in (
            ("end", change.last, change.last_gain),
            ("best", change.best, change.best_gain),
        ):
            yield f"{change.by.words}, {when}", short(values[0]), short(values[1]), _improvement(change, gain)


def _improvement(change: ScoreChange, gain: float) -> doc.Prose:
    if not change.clearly(gain):
        return "within noise"
    if change.by.higher:
        text = f"{100 * gain:+.1f} points" if max(map(abs, change.best)) <= 1 else f"{gain:+.3g}"
    else:
        text = f"{-100 * gain:+.0f} %"
    return doc.Span(text if gain > 0 else f"{text} (worse)", look="good" if gain > 0 else "alarm")


def _kind(name: str) -> str:
    return next((prefix for prefix in ("fixed_", "treated_model") if name.startswith(prefix)), name)


def _in_short(treated: Treated) -> Iterator[doc.Block]:
    """The cause, what the change brought, and what that cost."""
    planned = next((trial_round.plan[0] for trial_round in treated.rounds if trial_round.plan), None)
    if planned is not None:
        yield doc.Labelled("cause", f"{cause_title(planned.cause)} ({percent(planned.confidence)})")
    proofs = tuple(
        proof_text(trial_round.proof) for trial_round in treated.rounds if trial_round.proof is not None
    )
    if proofs:
        yield doc.Items(proofs, "proof")
    yield doc.Labelled("cost", f"{treated.cost.text}.")


def proof_text(proof: Proof) -> str:
    """The verdict, then every loss and score before and after, at the end and at its best."""
    scores = f". Before and after: {proof.scores.text}" if proof.scores.changes else ""
    return f"{proof.verdict.text}{scores}"


def _before_and_after(treated: Treated) -> doc.Chart | None:
    before = [outcome.run for outcome in treated.baseline if outcome.run is not None]
    after = [outcome.run for outcome in treated.after if outcome.run is not None]
    groups: dict[str, list[Run]] = {
        name: runs for name, runs in (("before", before), ("after", after)) if runs
    }
    chart = SideBySide(groups).curves() if groups else None
    text = "Repeats with other seeds are a band from the lowest to the highest; the line is their middle."
    return doc.Chart(chart, 0, "", text) if chart is not None else None


def _round(trial_round: Round) -> Iterator[doc.Block]:
    if trial_round.plan:
        first = trial_round.plan[0]
        share = f"), {percent(first.confidence)}."
        yield doc.Text((f"Likeliest cause: {cause_title(first.cause)} (", code(first.cause), share))
    if trial_round.trials:
        columns = (
            doc.TableColumn("change"),
            doc.TableColumn("remedy"),
            doc.TableColumn("length", "right"),
            doc.TableColumn("gain", "right"),
            doc.TableColumn("95 % interval", "right"),
            doc.TableColumn("p", "right"),
            doc.TableColumn("verdict", wrap=True),
        )
        yield doc.DocumentTable(columns, tuple(map(_trial, trial_round.trials)), look="trials")
    if trial_round.edited is not None:
        yield doc.Labelled("edit", trial_round.edited.text)
    if trial_round.proof is not None:
        word = "shows the gain" if trial_round.proof.reproduced else "does not show the gain"
        yield doc.Labelled(
            "proof", f"The edited script, run as it is, {word}: {proof_text(trial_round.proof)}"
        )
        yield from (doc.Labelled("new in it", code(id)) for id in trial_round.proof.verdict.new_problems)
    if trial_round.instruction is not None:
        where = place_text(trial_round.instruction.place)
        yield doc.Labelled("by hand", trial_round.instruction.text + (f" ({where})" if where else ""))
    if trial_round.winner is not None:
        page = remedies().get(trial_round.winner.candidate.remedy)
        if page is not None and page.expect:
            yield doc.Labelled("expected", page.expect)
        measured = (
            trial_round.proof.expected if trial_round.proof is not None else trial_round.winner.expected
        )
        if measured:
            yield doc.Items(tuple(expectation.line for expectation in measured), "measured")


def _trial(trial: Trial) -> tuple[doc.Prose, ...]:
    trial_verdict = trial.verdict
    head = (code(trial.candidate.name), trial.candidate.title, trial.length)
    if trial_verdict is None:
        return (*head, "", "", "", trial.text)
    difference = trial_verdict.difference
    interval = f"{short(difference.low)} to {short(difference.high)}"
    several = len(trial_verdict.pairs) > 1
    numbers = (
        short(trial_verdict.gain),
        interval if several else "",
        f"{difference.p:.2g}" if several else "",
    )
    return (*head, *numbers, doc.Span(trial.text, look=_LOOKS.get(trial_verdict.word, "")))


def ending(treated: Treated, patch: str, files: Sequence[Path], screen: Screen) -> list[str]:
    """The last lines of `traindx treat`."""
    return ["", *lines(_ending(treated, patch, files), screen)]


def _ending(treated: Treated, patch: str, files: Sequence[Path]) -> Iterator[doc.Block]:
    word, look, _ = _STATUS[treated.status]
    yield doc.Verdict(word, (treated.summary,), look)
    if patch:
        yield doc.Diff(tuple(diff_lines(patch)), "change")
    if treated.new_args is not None:
        yield doc.Labelled("command", shlex.join(treated.new_args))
    hands = tuple(
        trial_round.instruction.text for trial_round in treated.rounds if trial_round.instruction is not None
    )
    if hands:
        yield doc.Items(hands, "by hand")
    if treated.proven:
        yield doc.Items(tuple(criterion.line for criterion in treated.scores.criteria), "success")
    if treated.stop:
        yield doc.Items(treated.stop, "stop")
    if treated.status == "healthy":
        yield from _slight(treated)
    yield doc.Labelled("cost", treated.cost.text)
    if files:
        names = ", ".join(path.name for path in files)
        yield doc.Labelled("written", doc.Span(f"{files[0].parent}{os.sep}: {names}"))
    if patch and files:
        apply = f"git apply {shlex.quote(f'{files[0].parent}/fix.patch')}, or traindx treat --apply"
        yield doc.Labelled("next", doc.Span(apply), "bold")


def _slight(treated: Treated) -> Iterator[doc.Block]:
    """Problems that are too slight to act on."""
    for problem in treated.before.problems if treated.before is not None else ():
        yield doc.Labelled("noted", f"{symptoms()[problem.symptom].title}: too slight to act on.")
