"""Which cause, how surely: log-odds over the causes of a problem, from what was found, what was checked
and not found, and what could not be checked (which says nothing).

Each cause page gives its prior among the causes of a symptom (a word) and its evidence (bits of
log-likelihood ratio). Pages name what a cause leads to; what points at another cause more strongly than
anything points at this one explains it away. Findings of one family are views of one happening: only the
strongest counts.
Confidences of a problem sum to one with a rest that no listed cause takes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from traindx.core.nouns import AnswerEvidence, Evidence, Finding
from traindx.knowledge.catalogue import Cause

PRIOR_BITS: Mapping[str, float] = {"often": 4.5, "sometimes": 2.0, "rarely": -0.5}
# A cause that only explains a secondary symptom is less likely to be the root.
_SECONDARY = -1.5
# What no page knows: as likely as a cause met "sometimes" for which nothing was found.
REST_BITS = 2.0
# Expert weights are not calibrated: nothing is surer than this.
MOST = 0.95
_LEAST_BITS = 0.05
# A finding points at a cause from this many bits on. From a rival it takes this share of what it weighs more
# than the rival's own evidence.
_POINTS = 1.0
_EXPLAINS = 0.5
# A finding of so many bits proves its cause: what else the cause might have shown takes nothing from it.
PROVES = 6.0


@dataclass(frozen=True)
class Ranked:
    """A cause with its probability and the evidence for and against it."""

    cause: Cause
    confidence: float
    evidence: tuple[Evidence, ...]
    against: tuple[Evidence, ...]


@dataclass(frozen=True)
class Observations:
    """What the run showed: findings, and the ids (with their families) that were checked, not found.

    `answers` is what a person answered about it.
    """

    findings: Sequence[Finding]
    unseen: Mapping[str, str]
    titles: Mapping[str, str]
    answers: Sequence[AnswerEvidence] = ()


def rank(
    symptoms: Sequence[str], observations: Observations, causes: Iterable[Cause]
) -> tuple[list[Ranked], float]:
    """The causes of these symptoms (the primary one first), likeliest first, and the rest."""
    candidates = [cause for cause in causes if any(s in cause.symptoms for s in symptoms)]
    pointing = pointers(candidates)
    evidence = [evidence_on(cause, observations, pointing) for cause in candidates]
    present = frozenset(name for answer in observations.answers for name in answer.present)
    scores = [
        _prior(cause, symptoms, present) + sum(item.bits for item in items)
        for cause, items in zip(candidates, evidence, strict=True)
    ]
    shares, rest = shares_of(scores)
    ranking = [
        Ranked(
            cause,
            share,
            tuple(sorted((i for i in items if i.bits > 0), key=lambda i: -i.bits)),
            tuple(sorted((i for i in items if i.bits < 0), key=lambda i: i.bits)),
        )
        for cause, share, items in zip(candidates, shares, evidence, strict=True)
    ]
    return sorted(ranking, key=lambda ranked: -ranked.confidence), rest


def pointers(causes: Iterable[Cause]) -> dict[str, float]:
    """By finding, its bits for the one of these causes it points at most."""
    strongest: dict[str, float] = {}
    for cause in causes:
        for finding, weight in cause.evidence.items():
            strongest[finding] = max(strongest.get(finding, 0.0), weight.seen)
    return {finding: bits for finding, bits in strongest.items() if bits >= _POINTS}


def shares_of(scores: Sequence[float]) -> tuple[list[float], float]:
    """Probabilities from log2 scores, with the rest; none above what expert weights can warrant."""
    top = max([*scores, REST_BITS])
    weights = [2.0 ** (score - top) for score in scores]
    rest = 2.0 ** (REST_BITS - top)
    total = sum(weights) + rest
    shares = [weight / total for weight in weights]
    over = max(shares, default=0.0) - MOST
    if over > 0:
        shares = [min(share, MOST) for share in shares]
        return shares, rest / total + over
    return shares, rest / total


def _prior(cause: Cause, symptoms: Sequence[str], present: Set[str]) -> float:
    """How often the cause is behind the symptoms. What a person has seen to be there is not rare."""
    return max(
        PRIOR_BITS["often" if cause.id in present else cause.symptoms[symptom]]
        + (_SECONDARY if number else 0.0)
        for number, symptom in enumerate(symptoms)
        if symptom in cause.symptoms
    )


def evidence_on(cause: Cause, observations: Observations, pointing: Mapping[str, float]) -> list[Evidence]:
    """One item per family: its strongest finding, or what its absence says.

    `pointing` is what each finding weighs for the rival it points at most.
    """
    strongest: dict[str, Evidence] = {}
    elsewhere = []
    for finding in observations.findings:
        weight = cause.evidence.get(finding.id) or cause.evidence.get(finding.counts_as)
        if weight is None:
            elsewhere.append(finding)
        else:
            _count(strongest, finding, weight.seen * finding.strength)
    own = max((item.bits for item in strongest.values()), default=0.0)
    for finding in elsewhere:
        bits = pointing.get(finding.id) or pointing.get(finding.counts_as, 0.0)
        _count(strongest, finding, -_EXPLAINS * max(0.0, bits * finding.strength - max(0.0, own)))
    for answer in observations.answers:
        if answer.bits.get(cause.id):
            # The answer is about this very cause: it overrides what the page says of its finding.
            strongest[answer.family] = Evidence(answer.id, answer.text, answer.bits[cause.id])
    absent: dict[str, Evidence] = {}
    for finding_id, weight in cause.evidence.items():
        family = observations.unseen.get(finding_id)
        if family is None or family in strongest or not weight.unseen:
            continue
        if own >= PROVES and weight.unseen < 0:
            continue
        text = f"Checked, not found: {observations.titles.get(finding_id, finding_id)}."
        current = absent.get(family)
        if current is None or abs(weight.unseen) > abs(current.bits):
            absent[family] = Evidence(finding_id, text, weight.unseen)
    evidence = [*strongest.values(), *absent.values()]
    return [item for item in evidence if abs(item.bits) >= _LEAST_BITS]


def _count(strongest: dict[str, Evidence], finding: Finding, bits: float) -> None:
    item = Evidence(finding.id, finding.text, round(bits, 2), finding.step, finding.series)
    current = strongest.get(finding.family)
    if current is None or abs(item.bits) > abs(current.bits):
        strongest[finding.family] = item
