"""The diagnosis of the first steps finds no problem.

What 'traindx diagnose' says of the untouched arm: every detector over its curves, layers, data, loop and
source. Fails when it finds a problem of medium severity or above whose likeliest cause is at least as likely
as all others together. A weaker suspicion, and overfitting, which comes with length, are told as such: a few
hundred steps say less than a whole run.
"""

from __future__ import annotations

from traindx.core.nouns import ACTED_ON
from traindx.experiment.preflight.check import Answer, Item, failed, passed, unknown
from traindx.experiment.preflight.observations import UNTOUCHED, Flight

ITEM = Item(title="The diagnosis of these steps is clean", group="learning", order=5)
_SURE = 0.5
# What comes with length: nothing to stop a long run for.
_LATER = ("overfitting",)


def look(flight: Flight) -> Answer:
    diagnosis = flight.diagnosis
    if diagnosis is None:
        return unknown(flight.why_not(UNTOUCHED))
    grave = [one for one in diagnosis.problems if one.severity in ACTED_ON and one.hypotheses]
    looked = sum(one.status == "ran" for one in diagnosis.coverage)
    if not grave:
        return passed(f"{looked} detectors looked, nothing of medium severity or above.", detectors=looked)
    worst = max(grave, key=lambda one: (one.symptom not in _LATER, one.hypotheses[0].confidence))
    first = worst.hypotheses[0]
    said = f"{worst.summary.rstrip('.')}. Likeliest cause: {first.title} ({first.confidence:.0%})"
    if first.confidence < _SURE or worst.symptom in _LATER:
        return unknown(f"a suspicion: {said}; a longer run would tell.", confidence=first.confidence)
    do = first.fixes[0].summary if first.fixes else ""
    return failed(f"{said}.", do=do, cause=first.cause, confidence=first.confidence, problems=len(grave))
