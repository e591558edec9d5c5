"""When to stop debugging: several remedies were tried and none helped. What is left to question then."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from traindx.knowledge.catalogue import causes

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.experiment.treat.results import Round, Trial

_REMEDIES_LEAST = 2
_SHOWN = 6
# What a change of settings cannot fix, by the categories of the causes that point there.
_QUESTIONS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    (
        "Data quality",
        ("data",),
        "read 50 samples with their labels; 'traindx preflight' measures whether inputs and labels matter",
    ),
    (
        "Formulation",
        ("loss", "benign"),
        "whether the inputs determine the target, and whether this loss rewards what is wanted; compare with "
        "the best constant answer and with a linear model",
    ),
    (
        "Architecture",
        ("model", "optimisation"),
        "a published architecture for this kind of data, with its published settings, before further tuning",
    ),
)


def when_to_stop(rounds: Sequence[Round], diagnosis: Diagnosis | None) -> tuple[str, ...]:
    """What was tried in vain and what to question instead; nothing while there is something to try."""
    trials = [trial for round_ in rounds for trial in round_.trials if trial.verdict is not None]
    remedies = {trial.candidate.remedy for trial in trials}
    if len(remedies) < _REMEDIES_LEAST or any(trial.helped for trial in trials):
        return ()
    return tuple(_lines(trials, len(remedies), diagnosis))


def _lines(trials: Sequence[Trial], remedies: int, diagnosis: Diagnosis | None) -> Iterator[str]:
    trial_texts = list(dict.fromkeys(f"{trial.candidate.name} ({trial.text})" for trial in trials))
    more_text = f"; {len(trial_texts) - _SHOWN} more" if len(trial_texts) > _SHOWN else ""
    yield (
        f"{remedies} remedies were tried and none helped: {'; '.join(trial_texts[:_SHOWN])}{more_text}. "
        "Further changes of settings are unlikely to pay; stop here and question what they cannot change:"
    )
    shares = _shares(diagnosis)
    weight = {title: sum(shares.get(kind, 0.0) for kind in kinds) for title, kinds, _ in _QUESTIONS}
    for title, _, text in sorted(_QUESTIONS, key=lambda question: -weight[question[0]]):
        share = f" ({weight[title]:.0%} of the diagnosis)" if weight[title] >= 0.005 else ""
        yield f"{title}{share}: {text}."


def _shares(diagnosis: Diagnosis | None) -> dict[str, float]:
    """How likely the causes of each category are together."""
    shares: dict[str, float] = {}
    for problem in diagnosis.problems[:1] if diagnosis is not None else ():
        for hypothesis in problem.hypotheses:
            kind = causes()[hypothesis.cause].category if hypothesis.cause in causes() else ""
            shares[kind] = shares.get(kind, 0.0) + hypothesis.confidence
    return shares
