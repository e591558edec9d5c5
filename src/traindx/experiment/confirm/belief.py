"""The probability of each cause, and the information that an experiment is expected to add."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from traindx.core.nouns import Evidence, Hypothesis, Problem
from traindx.knowledge.experiments import Experiment
from traindx.knowledge.questions import entropy

# Even experiments leave a doubt: another fault may answer alike.
_MOST = 0.99
_LEAST_BITS = 0.05
# The causes that are listed: at least so likely, at most so many.
_LISTED_LEAST, _LISTED_MOST = 0.02, 6


@dataclass(frozen=True)
class ExperimentObservation:
    """What one experiment showed; `clarity` (0 to 1) says how clearly."""

    experiment: Experiment
    outcome: str
    clarity: float
    text: str
    step: float | None = None
    series: str | None = None

    def bits(self, cause: str) -> float:
        return round(self.clarity * self.experiment.bits(self.outcome, cause), 2)


@dataclass(frozen=True)
class Belief:
    """Probabilities of the causes, which sum to one with the rest, and the observations so far."""

    prior: Mapping[str, float]
    rest: float
    shown: tuple[ExperimentObservation, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    rest_now: float = 0.0

    @classmethod
    def of(cls, problem: Problem) -> Belief:
        prior = {hypothesis.cause: hypothesis.confidence for hypothesis in problem.hypotheses}
        return cls(prior, problem.rest, (), prior, problem.rest)

    @property
    def first(self) -> str:
        return max(self.shares, key=lambda cause: self.shares[cause])

    @property
    def margin(self) -> float:
        """How many times likelier the first is than the second."""
        best = sorted([*self.shares.values(), 1e-9], reverse=True)
        return best[0] / best[1]

    @property
    def done(self) -> set[str]:
        """The ids of the experiments that were observed."""
        return {observation.experiment.id for observation in self.shown}

    def bits(self, cause: str) -> float:
        """The evidence of all observations for a cause."""
        return sum(observation.bits(cause) for observation in self.shown)

    def after(self, *observations: ExperimentObservation) -> Belief:
        """The probabilities after further experiments, by Bayes' rule; a repeated one replaces the first."""
        if not observations:
            return self
        latest: dict[str, ExperimentObservation] = {}
        for observation in (*self.shown, *observations):
            latest.pop(observation.experiment.id, None)
            latest[observation.experiment.id] = observation
        later = replace(self, shown=tuple(latest.values()))
        scores = {cause: share * 2.0 ** later.bits(cause) for cause, share in self.prior.items()}
        total = sum(scores.values()) + self.rest
        shares = {cause: score / total for cause, score in scores.items()}
        over = max(shares.values()) - _MOST
        rest = self.rest / total + max(0.0, over)
        shares = {cause: min(share, _MOST) for cause, share in shares.items()}
        return replace(later, shares=shares, rest_now=rest)

    def expected(self, experiment: Experiment, outcomes: Sequence[str] = ()) -> float:
        """The expected drop of the entropy over the causes, in bits; `outcomes` are those still possible."""
        now = [*self.shares.items(), (None, self.rest_now)]
        able = outcomes or experiment.outcomes
        totals = {cause: sum(experiment.likely(outcome, cause) for outcome in able) for cause, _ in now}
        expected_entropy = 0.0
        for outcome in able:
            joint = [share * experiment.likely(outcome, cause) / totals[cause] for cause, share in now]
            total = sum(joint)
            if total > 0:
                expected_entropy += total * entropy([part / total for part in joint])
        return entropy([share for _, share in now]) - expected_entropy

    def separated(self, experiment: Experiment) -> tuple[list[str], list[str]]:
        """The likelier causes that an experiment speaks for most, and against, were it to help."""
        able = sorted(self.shares, key=lambda cause: -self.shares[cause])[:4]
        lead = experiment.outcomes[0]
        weight = {cause: experiment.likely(lead, cause) for cause in able}
        highest = max(weight.values())
        up = [cause for cause in able if weight[cause] >= 0.99 * highest]
        return up, [cause for cause in able if cause not in up]


def ranked_again(problem: Problem, belief: Belief) -> Problem:
    """The problem with its causes ranked again; experiments are part of the evidence."""
    hypotheses = [_with(hypothesis, belief) for hypothesis in problem.hypotheses]
    hypotheses.sort(key=lambda hypothesis: -hypothesis.confidence)
    listed = [
        hypothesis for hypothesis in hypotheses[:_LISTED_MOST] if hypothesis.confidence >= _LISTED_LEAST
    ] or hypotheses[:1]
    hidden = sum(hypothesis.confidence for hypothesis in hypotheses if hypothesis not in listed)
    return replace(problem, hypotheses=tuple(listed), rest=belief.rest_now + hidden, questions=())


def _with(hypothesis: Hypothesis, belief: Belief) -> Hypothesis:
    items = [
        Evidence(observation.experiment.id, observation.text, bits, observation.step, observation.series)
        for observation in belief.shown
        if abs(bits := observation.bits(hypothesis.cause)) >= _LEAST_BITS
    ]
    for_it = [*hypothesis.evidence, *(item for item in items if item.bits > 0)]
    against = [*hypothesis.against, *(item for item in items if item.bits < 0)]
    return replace(
        hypothesis,
        confidence=belief.shares[hypothesis.cause],
        evidence=tuple(sorted(for_it, key=lambda item: -item.bits)),
        against=tuple(sorted(against, key=lambda item: item.bits)),
    )
