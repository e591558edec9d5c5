"""An interview from its first word to the diagnosis: the answers, what to ask next, going back."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from traindx.core.nouns import Diagnosis, Run
from traindx.engine import conclude
from traindx.evidence.case import Case
from traindx.evidence.examine import Examination
from traindx.interview.answered_run import examined
from traindx.interview.answers import Answer, understood
from traindx.interview.complaint import understand
from traindx.interview.evidence import Weighed, weighed
from traindx.interview.next_question import QuestionChoice, choices, settled
from traindx.interview.pasted import NAME
from traindx.knowledge.catalogue import symptoms as known_symptoms
from traindx.knowledge.questions import questions
from traindx.knowledge.suspicions import Suspicion, joined, suspected, trimmed


class Interview:
    """A user's description of a training; `base` is what is known about it beforehand."""

    def __init__(self, base: Case | None = None) -> None:
        self.base = base if base is not None else Case(_nothing())
        self.symptoms: tuple[str, ...] = ()
        self.answers: dict[str, Answer] = {}
        self.suspicions: tuple[Suspicion, ...] = ()
        self._examined: tuple[tuple[Answer, ...], tuple[Case, Examination, tuple[str, ...]]] | None = None

    def set_symptoms(self, symptoms: tuple[str, ...]) -> None:
        """What is wrong; replaces the symptoms reported before."""
        unknown = [name for name in symptoms if name not in known_symptoms()]
        if unknown:
            raise KeyError(unknown[0])
        self.symptoms = tuple(dict.fromkeys(symptoms))
        self._forget()

    def report(self, text: str) -> None:
        """Add what is wrong, as ids or in words; raises NotUnderstood."""
        complaint = understand(text)
        if complaint.symptoms and not complaint.guessed and not complaint.left:
            self.set_symptoms((*self.symptoms, *complaint.symptoms))
            return
        before = self.answers.get("description")
        self.answer("description", text if before is None else f"{before.text}\n{text}")

    def answer(self, question: str, raw: object) -> Answer:
        """Take an answer; raises KeyError for a question there is not, NotUnderstood for a wrong form."""
        answer = understood(questions()[question], raw)
        self.symptoms = tuple(dict.fromkeys((*self.symptoms, *answer.symptoms)))
        self.answers.pop(question, None)
        self.answers[question] = answer
        self._forget()
        return answer

    def suspect(self, text: str) -> None:
        """Add what somebody suspects, as `lr_too_high@train.py:12` or in words; raises UnknownCause."""
        self.suspicions = tuple(dict.fromkeys((*self.suspicions, suspected(text))))

    def back(self) -> Answer | None:
        """Take the last answer back; None when there is none."""
        if not self.answers:
            return None
        _, answer = self.answers.popitem()
        self._forget()
        return answer

    @property
    def known(self) -> dict[str, Answer]:
        """The answers that are not "don't know"."""
        return {name: answer for name, answer in self.answers.items() if not answer.unknown}

    @cached_property
    def weighed(self) -> Weighed:
        """All evidence there is, measured and stated."""
        facts = tuple(a for a in self.known.values() if a.settings or a.pasted or a.options)
        with np.errstate(all="ignore"):
            if self._examined is None or self._examined[0] != facts:
                self._examined = facts, examined(self.base, self.known)
            case, examination, contradictions = self._examined[1]
            evidence = weighed(case, examination, self.symptoms, self.known)
        return Weighed(evidence.case, evidence.examination, (*contradictions, *evidence.contradictions))

    @cached_property
    def next(self) -> QuestionChoice | None:
        """What to ask now; None when nothing would change the picture, or one cause stands out."""
        if settled(self.weighed, self.answers):
            return None
        return next(iter(choices(self.weighed, self.answers)), None)

    def diagnosis(self) -> Diagnosis:
        """The same judgement that a log gets."""
        case, examination = self.weighed.case, self.weighed.examination
        if not self.suspicions:
            return conclude(case, examination)
        conclusion = conclude(case, examination, every_cause=True)
        return trimmed(joined(conclusion, self.suspicions), self.suspicions)

    def _forget(self) -> None:
        self.__dict__.pop("weighed", None)
        self.__dict__.pop("next", None)


def _nothing() -> Run:
    """A training of which nothing is known yet."""
    return Run(name="as described", path=NAME, formats=(NAME,), axis="row", series={})
