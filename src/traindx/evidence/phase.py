"""Several trainings of one script (stages, folds, restarts): each is judged by itself, the worst leads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from traindx.core.nouns import SEVERITIES, Diagnosis, Run

_VERDICTS = ("problem", "insufficient_evidence", "healthy")


def of_one_script(runs: Sequence[Run]) -> bool:
    """Whether these are the trainings of one script, or of one log."""
    return len(runs) > 1 and all(run.phase is not None for run in runs) and len({r.path for r in runs}) == 1


def phase_text(run: Run) -> str:
    """`fold 3 of 5, steps 721 to 1,080`, the steps of all counted through; empty for the only training."""
    phase = run.phase
    if phase is None or run.last_step is None:
        return phase.title if phase is not None else ""
    first, last = round(phase.before) + 1, round(phase.before + run.last_step)
    return f"{phase.title}, {run.axis}s {first:,} to {last:,}"


def worst_first(diagnoses: Iterable[Diagnosis]) -> list[Diagnosis]:
    """By severity, then by confidence in the first cause; runs without a verdict before healthy ones."""
    return sorted(diagnoses, key=badness)


def badness(diagnosis: Diagnosis) -> tuple[int, int, float]:
    """How bad a diagnosis is: the lower the worse."""
    first = diagnosis.problems[0] if diagnosis.problems else None
    worst = min((SEVERITIES.index(p.severity) for p in diagnosis.problems), default=len(SEVERITIES))
    sure = first.hypotheses[0].confidence if first and first.hypotheses else 0.0
    return _VERDICTS.index(diagnosis.verdict), worst, -sure
