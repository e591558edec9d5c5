"""From diagnoses to the page: of one run its facts, of several a line for each, worst first."""

from __future__ import annotations

import os
from collections.abc import Sequence

from traindx.core.nouns import Diagnosis, Run
from traindx.evidence.phase import of_one_script, worst_first
from traindx.report.brief.cause_facts import blind_facts, cause_facts, experiment_facts, finding_facts
from traindx.report.brief.course_facts import course_facts
from traindx.report.brief.facts import TOKENS, Brief, BriefFact, UnknownHandle, numbers_of
from traindx.report.brief.inside_facts import inside_facts
from traindx.report.brief.task_facts import task_facts
from traindx.report.measured import case_of
from traindx.report.places import from_here
from traindx.report.summary import final_losses
from traindx.report.text import count, short
from traindx.report.wording import grade, tally, verdict_sentences


def brief_of(diagnoses: Sequence[Diagnosis], path: str, tokens: int = TOKENS) -> Brief:
    """The page of one run; of several trainings of a script that of the worst; of a folder its runs."""
    if len(diagnoses) == 1:
        return Brief(_facts(diagnoses[0]), path, tokens, diagnoses[0])
    ordered = worst_first(diagnoses)
    if of_one_script([diagnosis.run for diagnosis in diagnoses]):
        trainings = BriefFact("trainings", f"{tally(ordered)}; this is the worst", 9)
        return Brief((*_facts(ordered[0]), trainings), path, tokens, ordered[0])
    runs = tuple(_run(diagnosis, path) for diagnosis in ordered)
    return Brief((BriefFact("runs", tally(ordered), 10), *runs), path, tokens)


def behind(brief: Brief, handle: str) -> tuple[Brief, int | None]:
    """The page that a handle is on and its number there; None where it is a run's of a folder, whose page
    it leads to."""
    number, further = numbers_of(handle)
    fact = brief.at(number)
    if fact.diagnosis is None:
        if further is not None:
            raise UnknownHandle(f"{brief.handle(number)} is no run of a folder: give F{number} alone.")
        return brief, number
    page = Brief(
        _facts(fact.diagnosis, f"F{number}."), fact.diagnosis.run.path, brief.tokens, fact.diagnosis, number
    )
    if further is not None:
        page.at(further)
    return page, further


def _facts(diagnosis: Diagnosis, front: str = "F") -> tuple[BriefFact, ...]:
    case = case_of(diagnosis.run)
    facts = [*task_facts(case, diagnosis), *course_facts(case), *inside_facts(case)]
    facts += [*finding_facts(diagnosis), *experiment_facts(case)]
    handles = {fact.finding.id: f"{front}{at}" for at, fact in enumerate(facts, 1) if fact.finding}
    facts += [*blind_facts(case, diagnosis), *cause_facts(diagnosis, handles)]
    return tuple(facts)


def _run(diagnosis: Diagnosis, path: str) -> BriefFact:
    """A run of a folder in one line."""
    run = diagnosis.run
    losses = [f"{name} loss {short(value)}" for name, value in final_losses(case_of(run)).items()]
    length = f"{run.axis} {short(run.last_step)}" if run.last_step is not None else count(run.points, "point")
    text = "; ".join([grade(diagnosis), *verdict_sentences(diagnosis)[:1], length, *losses])
    return BriefFact(_name(run, path), text, 5, diagnosis=diagnosis)


def _name(run: Run, path: str) -> str:
    """By its place in the folder."""
    name = run.name
    for folder in (os.path.join(path, ""), os.path.join(os.path.realpath(path), "")):
        name = name.removeprefix(folder)
    return from_here(name)
