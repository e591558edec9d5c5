"""The next question: the one whose answer is expected to move the ranking most, and why.

For every answer that may be given, the ranking is made as if it had been; the expected drop of its entropy
is what the question is worth, times how likely somebody can answer it, less a little for asking.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from traindx.interview.answers import Answer
from traindx.interview.evidence import Weighed, statement
from traindx.knowledge.catalogue import causes
from traindx.knowledge.infer import Observations, Ranked, evidence_on, pointers, rank
from traindx.knowledge.judge import finding_groups, observations_of
from traindx.knowledge.questions import (
    KNOWN,
    Option,
    Question,
    information,
    likelihoods,
    questions,
)

COST = 0.02
LEAST = 0.05
STANDS_OUT = 0.8
FEWEST, MOST = 2, 10
_SHARE = 0.004


@dataclass(frozen=True)
class Differential:
    """A problem's causes with their shares, and the rest that no cause takes."""

    symptoms: tuple[str, ...]
    ranked: tuple[Ranked, ...]
    rest: float

    @property
    def settled(self) -> bool:
        return bool(self.ranked) and self.ranked[0].confidence >= STANDS_OUT


@dataclass(frozen=True)
class QuestionChoice:
    """A question worth asking: what it is worth in bits, and the two causes it separates best."""

    question: Question
    worth: float
    apart: tuple[Ranked, Ranked] | None


def differentials(weighed: Weighed) -> list[Differential]:
    """The ranking of every problem, worst problem first; small ones only when there is nothing else."""
    evidence = observations_of(weighed.examination)
    groups = finding_groups(weighed.case, weighed.examination)
    problems = []
    for trouble in [group for group in groups if group.severity != "low"] or groups:
        ranked, rest = rank(trouble.symptoms, evidence, causes().values())
        problems.append(Differential(trouble.symptoms, tuple(ranked), rest))
    return problems


def choices(weighed: Weighed, answers: Mapping[str, Answer]) -> list[QuestionChoice]:
    """Every question that would still add information, the most informative first."""
    all_problems = differentials(weighed)
    problems = [problem for problem in all_problems if not problem.settled]
    if not problems and _questions_asked(answers) < FEWEST:
        problems = all_problems
    evidence = observations_of(weighed.examination)
    able = []
    for question in open_questions(weighed, answers):
        choice = _worth(question, problems, evidence)
        if choice.worth >= LEAST:
            able.append(choice)
    return sorted(able, key=lambda choice: -choice.worth)


def open_questions(weighed: Weighed, answers: Mapping[str, Answer]) -> list[Question]:
    """The questions that concern the symptoms and that nothing has answered yet."""
    symptoms = [symptom for problem in differentials(weighed) for symptom in problem.symptoms]
    checked = weighed.examination.checked
    return [
        question
        for question in questions().values()
        if question.options
        and question.id not in answers
        and question.concerns(symptoms)
        and not question.settled(checked)
        and not _is_known(question, weighed)
    ]


def settled(weighed: Weighed, answers: Mapping[str, Answer]) -> bool:
    """Whether one cause stands out in every problem, or enough was asked."""
    if _questions_asked(answers) >= MOST:
        return True
    return _questions_asked(answers) >= FEWEST and all(problem.settled for problem in differentials(weighed))


def _questions_asked(answers: Mapping[str, Answer]) -> int:
    """How many questions were put; a description is none."""
    return sum(bool(questions()[name].options) for name in answers)


def _is_known(question: Question, weighed: Weighed) -> bool:
    """Whether the run has the settings or curves that the question is about."""
    if question.settings:
        telling = question.settings[:2] if question.id == "config" else question.settings[:1]
        return all(weighed.case.has(f"{name}|setting:{name}") for name in telling)
    return bool(question.series) and all(weighed.case.has(name) for name in question.series)


def _worth(question: Question, problems: Sequence[Differential], evidence: Observations) -> QuestionChoice:
    worth, apart = 0.0, None
    for number, problem in enumerate(problems):
        if not question.concerns(problem.symptoms):
            continue
        likely = [r for r in problem.ranked if r.confidence >= _SHARE]
        small = sum(r.confidence for r in problem.ranked if r.confidence < _SHARE)
        bits = _bits(question, likely, evidence, pointers(r.cause for r in problem.ranked))
        by_cause = {r.cause.id: likelihoods(question, bits[r.cause.id]) for r in likely}
        even = [option.often for option in question.options.values()]
        gain = information({r.cause.id: r.confidence for r in likely}, problem.rest + small, by_cause, even)
        worth += gain
        if number == 0 or apart is None:
            apart = _apart(likely, by_cause)
    return QuestionChoice(question, worth * KNOWN[question.effort] - COST, apart)


def _bits(
    question: Question, likely: Iterable[Ranked], evidence: Observations, pointing: Mapping[str, float]
) -> dict[str, list[float]]:
    """What each answer would add to each cause, given all that is known already."""
    after = [_if_answered(question, option, evidence) for option in question.options.values()]
    bits = {}
    for cause in (ranked_cause.cause for ranked_cause in likely):
        now = sum(item.bits for item in evidence_on(cause, evidence, pointing))
        bits[cause.id] = [
            sum(item.bits for item in evidence_on(cause, then, pointing)) - now for then in after
        ]
    return bits


def _if_answered(question: Question, option: Option, evidence: Observations) -> Observations:
    checked = {finding.id for finding in evidence.findings} | set(evidence.unseen)
    answer_evidence = statement(question, option, checked)
    return replace(
        evidence,
        findings=(*evidence.findings, *answer_evidence.findings),
        unseen={**evidence.unseen, **answer_evidence.ruled_out},
        answers=(*evidence.answers, *answer_evidence.answers),
    )


def _apart(likely: Sequence[Ranked], by_cause: Mapping[str, Sequence[float]]) -> tuple[Ranked, Ranked] | None:
    """The two causes whose answers differ most, by how likely both are."""
    best: tuple[float, tuple[Ranked, Ranked]] | None = None
    for number, cause in enumerate(likely[:8]):
        for rival in likely[number + 1 : 8]:
            pairs = zip(by_cause[cause.cause.id], by_cause[rival.cause.id], strict=True)
            differ = sum(abs(a - b) for a, b in pairs) / 2
            weight = differ * cause.confidence * rival.confidence
            if best is None or weight > best[0]:
                best = (weight, (cause, rival))
    return best[1] if best else None
