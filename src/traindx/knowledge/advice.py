"""What may be advised after trials: nothing that one of them refuted. Every surface asks here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from traindx.core.nouns import Diagnosis, Fix, Problem
from traindx.core.pool import PooledExperiment, PooledTrial
from traindx.knowledge.catalogue import causes, remedies

# Verdicts after which a change is not advised again.
_SETTLED = {"hurt": "made it worse here", "no difference": "made no difference here", "applied": "is applied"}

_OPPOSITE = {"more": "less", "less": "more"}
_UNDOING_BITS = -4.0


def advised(diagnosis: Diagnosis, trials: Sequence[PooledTrial]) -> Diagnosis:
    """The diagnosis without the fixes that trials refuted; of one that helped, what was measured."""
    if not trials:
        return diagnosis
    return replace(diagnosis, problems=tuple(_problem(problem, trials) for problem in diagnosis.problems))


def without_fixes(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis of a training that is left alone: what was noticed, and nothing to do about it."""
    problems = (
        replace(problem, hypotheses=tuple(replace(h, fixes=()) for h in problem.hypotheses))
        for problem in diagnosis.problems
    )
    return replace(diagnosis, problems=tuple(problems))


def _problem(problem: Problem, trials: Sequence[PooledTrial]) -> Problem:
    hypotheses = (
        replace(h, fixes=tuple(fix for old in h.fixes if (fix := advised_fix(old, trials)) is not None))
        for h in problem.hypotheses
    )
    return replace(problem, hypotheses=tuple(hypotheses))


def advised_fix(fix: Fix, trials: Sequence[PooledTrial]) -> Fix | None:
    """A fix as the trials of its remedy leave it: what helped, what of it is still untried, or None."""
    own = [trial for trial in trials if trial.remedy == fix.remedy]
    page = remedies().get(fix.remedy)
    title = page.title if page is not None else fix.remedy
    helped = [trial for trial in own if trial.verdict == "helped"]
    if helped:
        best = helped[-1]
        text = f"{title}: {best.change}. It {best.text}."
        return replace(fix, summary=text, config={}, patch=None, trials=(best.change,))
    settled = {
        knob: _SETTLED[trial.verdict] for trial in own if trial.verdict in _SETTLED for knob in trial.knobs
    }
    if not any(trial.verdict in _SETTLED for trial in own):
        return fix
    untried = [_words(knob) for knob in (page.knobs if page is not None else ()) if knob not in settled]
    if not untried or not settled:
        return None
    measured = ", ".join(f"{_words(knob)} {verdict}" for knob, verdict in settled.items())
    text = f"{title}: {measured}; not tried: {', '.join(untried)}."
    remaining = tuple(text for text in fix.trials if text not in {trial.change for trial in own})
    return replace(fix, summary=text, config={}, patch=None, trials=remaining)


def against_undoing(trial: PooledTrial) -> PooledExperiment | None:
    """A change that helped, as evidence against causes by which it would have to be undone."""
    names = trial.remedy.split(" + ")
    pages = causes().values()
    ways = {
        (knob, _OPPOSITE.get(page.settings.get(knob, "")))
        for page in pages
        for knob in trial.knobs
        if set(names) & set(page.remedies)
    }
    undoing = [page.id for page in pages if ways & set(page.settings.items())]
    if not undoing:
        return None
    text = f"{trial.change} {trial.text}"
    return PooledExperiment("proven_change", text, dict.fromkeys(undoing, _UNDOING_BITS))


def _words(knob: str) -> str:
    return knob.replace("_", " ")
