"""What detectors and experiments found, what was not measured, and the ranked causes."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace

from traindx.core.nouns import Diagnosis, Finding, Hypothesis, Problem
from traindx.core.pool import pool_of
from traindx.evidence.case import Case
from traindx.report.answer import next_command, strongest
from traindx.report.brief.facts import BriefFact
from traindx.report.brief.task_facts import program_of, table
from traindx.report.coverage_words import blind_spots, checks_run
from traindx.report.places import from_here, place_text, places_text
from traindx.report.text import percent, short, visible
from traindx.report.wording import (
    further_signs,
    happening,
    leading,
    minor,
    shown_problems,
)

_CAUSES_SHOWN = 3
_LIKELY = 0.03
_NEEDS_SHOWN = 4


def finding_facts(diagnosis: Diagnosis) -> Iterator[BriefFact]:
    """The findings of the detectors: those of problems first, then signs, the strongest evidence first."""
    texts: set[str] = set()
    grave = {id(problem) for problem in shown_problems(diagnosis)}
    ordered = sorted(diagnosis.problems, key=lambda problem: id(problem) not in grave)
    findings = [
        (finding, 8 if id(problem) in grave else 5) for problem in ordered for finding in problem.findings
    ]
    likely = [(cause, problem) for problem in ordered for cause in problem.hypotheses[:2]]
    evidence = {item.finding for cause, problem in likely for item in strongest(cause, problem)}
    signs = [sign for sign in diagnosis.signs if sign.id in evidence]
    signs += [sign for sign in further_signs(diagnosis) if sign.id not in evidence]
    for finding, keep in [*findings, *((sign, 8 if sign.id in evidence else 4) for sign in signs)]:
        if finding.text not in texts:
            texts.add(finding.text)
            yield _finding(finding, keep)


def _finding(finding: Finding, keep: int) -> BriefFact:
    series = (finding.series,) if finding.series else ()
    place = places_text(finding)
    return BriefFact(finding.id, finding.text, keep, series, finding=finding, place=place)


def experiment_facts(case: Case) -> Iterator[BriefFact]:
    """What confirm, preflight, treat and prove found about the same unchanged script."""
    for entry in pool_of(case.run):
        for experiment in entry.experiments:
            rows = table(("cause", "bits"), list(experiment.bits.items()))
            yield BriefFact(f"{entry.command} {experiment.id}", experiment.text, 8, table=rows)
        for trial in entry.trials:
            yield BriefFact(f"{entry.command} {trial.change}", f"{trial.verdict}: {trial.text}", 8)
    saved = case.run.facts.get("confirmed")
    if isinstance(saved, Mapping) and isinstance(cause := saved.get("cause"), str):
        share = saved.get("confidence")
        sure = f" ({percent(share)})" if isinstance(share, float) else ""
        yield BriefFact("confirmed", f"by experiments: {visible(cause, 60)}{sure}", 9)


def blind_facts(case: Case, diagnosis: Diagnosis) -> Iterator[BriefFact]:
    """What was not measured, each with the command that measures it."""
    program, recorded = program_of(case), case.inside.recorded
    script = program or "SCRIPT"
    if not recorded:
        missing = "layers, updates, activations, batches, single samples, time and memory of a step"
        yield BriefFact("not measured", f"{missing}: traindx run {script}", 9)
    elif not any(entry.command == "preflight" for entry in pool_of(case.run)):
        missing = "whether one batch can be fitted, and whether inputs and labels matter"
        yield BriefFact("not measured", f"{missing}: traindx preflight {script}", 8)
    if recorded and case.run.facts.get("files_read") and not _checked_files(diagnosis):
        yield BriefFact("not measured", f"the data files: traindx check {_quoted(case)}", 7)
    if case.val_loss is None and not any(name.startswith(("val/", "test/")) for name in case.names):
        yield BriefFact("not measured", "anything on validation data: log it in the script", 8, ())
    blind = blind_spots(diagnosis.coverage)
    if blind:
        rows = [(need, len(checks), ", ".join(checks)) for need, checks in blind]
        counts = [(len(checks), visible(need.partition(" (")[0], 60)) for need, checks in blind]
        needs = "; ".join(f"{number} need {need}" for number, need in counts[:_NEEDS_SHOWN])
        text = f"{checks_run(diagnosis.coverage)}; {needs}"
        yield BriefFact("checks", text, 6, table=table(("need", "checks", "which"), rows))


def cause_facts(diagnosis: Diagnosis, handles: Mapping[str, str]) -> Iterator[BriefFact]:
    """One line for each problem with its ranked causes; what to do first; the next command.

    `handles` are those of the findings, so that evidence is named and not repeated.
    """
    if diagnosis.verdict != "problem":
        words = {"healthy": "healthy: no check found anything to act on"}
        why = words.get(diagnosis.verdict, "no verdict: too little evidence")
        yield BriefFact(
            "verdict", why, 10, table=table(("reason",), [(reason,) for reason in diagnosis.reasons])
        )
    problems = shown_problems(diagnosis)
    for problem in minor(diagnosis):
        yield replace(_causes(problem, diagnosis, handles), label=f"note {problem.symptom}", keep=5)
    for problem in problems:
        yield _causes(problem, diagnosis, handles)
        first = leading(problem)
        if first is not None and first.fixes:
            fix = first.fixes[0]
            settings = ", ".join(f"{key} = {value}" for key, value in fix.config.items())
            rows = [(fix.remedy, fix.summary) for fix in first.fixes]
            text = fix.summary.rstrip(".") + (f" ({settings})" if settings else "")
            yield BriefFact("to try", text, 7, table=table(("remedy", "what to do"), rows))
    if problems and (command := next_command(diagnosis, problems[0])):
        yield BriefFact("next", shlex.join(map(from_here, shlex.split(command))), 9)


def _causes(problem: Problem, diagnosis: Diagnosis, handles: Mapping[str, str]) -> BriefFact:
    ranked = [cause for cause in problem.hypotheses if cause.confidence >= _LIKELY] or list(
        problem.hypotheses[:1]
    )
    causes = "; ".join(_cause(cause, problem, handles) for cause in ranked[:_CAUSES_SHOWN])
    basis = " (by how common they are: no finding speaks for one)" if leading(problem) is None else ""
    rest = f"; unknown {percent(problem.rest)}" if problem.rest >= _LIKELY else ""
    happened = f"{problem.severity}, {happening(problem, diagnosis.run)}"
    text = f"{happened}: {causes or 'no known cause fits'}{basis}{rest}"
    rows = [
        (cause.cause, short(cause.confidence), place_text(cause.place), cause.confirm)
        for cause in problem.hypotheses
    ]
    heads = ("cause", "confidence", "place", "how to confirm")
    series = tuple(dict.fromkeys(finding.series for finding in problem.findings if finding.series))
    return BriefFact(f"problem {problem.symptom}", text, 10, series, table(heads, rows))


def _cause(cause: Hypothesis, problem: Problem, handles: Mapping[str, str]) -> str:
    place = place_text(cause.place)
    evidence = [handles[item.finding] for item in strongest(cause, problem) if item.finding in handles]
    by = f" by {', '.join(dict.fromkeys(evidence))}" if evidence else ""
    return f"{cause.cause} {percent(cause.confidence)}" + (f" at {place}" if place else "") + by


def _quoted(case: Case) -> str:
    return shlex.quote(from_here(case.run.path))


def _checked_files(diagnosis: Diagnosis) -> bool:
    """Whether checks of the files that the training read were made."""
    return any(check.check.startswith("file_") and check.status == "ran" for check in diagnosis.coverage)
