"""An interview as JSON: the diagnosis, with the questions asked, the next question and the next steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from traindx.report.diagnosis_json import diagnosis_dict
from traindx.report.interview import reason
from traindx.report.json_text import json_document

if TYPE_CHECKING:
    from traindx.core.nouns import Diagnosis
    from traindx.interview.next_commands import NextCommand
    from traindx.interview.next_question import QuestionChoice
    from traindx.interview.session import Interview


def interview_document(
    interview: Interview, diagnosis: Diagnosis, plan: str, steps: Sequence[NextCommand]
) -> bytes:
    """A diagnosis (schema traindx/diagnosis/1) with the field `interview`."""
    document = diagnosis_dict(diagnosis)
    document["interview"] = interview_dict(interview, diagnosis, plan, steps)
    return json_document(document)


def interview_dict(
    interview: Interview, diagnosis: Diagnosis, plan: str, steps: Sequence[NextCommand]
) -> dict[str, Any]:
    from traindx.interview.plans import reply, understood_plans

    plans = [reply(planned, diagnosis) for planned in understood_plans(plan)] if plan.strip() else []
    return {
        "symptoms": interview.symptoms,
        "suspicions": [suspicion.text for suspicion in interview.suspicions],
        "answers": [_answer(interview, name) for name in interview.answers],
        "contradictions": interview.weighed.contradictions,
        "next": _next(interview, diagnosis),
        "plans": [
            {"plan": answer.plan.id, "fits": answer.fits.cause if answer.fits else None, "text": answer.text}
            for answer in plans
        ],
        "steps": steps,
    }


def _answer(interview: Interview, name: str) -> dict[str, Any]:
    from traindx.knowledge.questions import questions

    answer, question = interview.answers[name], questions()[name]
    document: dict[str, Any] = {"question": name, "ask": question.ask, "answer": answer.text}
    if answer.unknown:
        return {**document, "known": False, "find_out": question.find_out}
    document |= {"known": True, "options": answer.options}
    if answer.observed:
        document |= {"observed": answer.observed, "symptoms": answer.symptoms}
    if answer.settings:
        document["settings"] = answer.settings
    if answer.pasted is not None:
        document["series"] = {name: len(series) for name, series in answer.pasted.series.items()}
    return document


def _next(interview: Interview, diagnosis: Diagnosis) -> dict[str, Any] | None:
    """The next question; the first is what goes wrong, unless a description or a log shows it."""
    if not interview.symptoms and not diagnosis.problems:
        return _complaint()
    return None if interview.next is None else _question(interview.next)


def _complaint() -> dict[str, Any]:
    from traindx.knowledge.catalogue import symptoms

    return {
        "question": "symptoms",
        "ask": "What goes wrong? Ids, or words of your own.",
        "kind": "any",
        "options": {symptom.id: symptom.statement for symptom in symptoms().values()},
        "example": "the loss does not fall",
        "why": "asked because every cause is weighed by what is seen",
        "bits": None,
        "find_out": "traindx run train.py records a training and says what it sees",
    }


def _question(choice: QuestionChoice) -> dict[str, Any]:
    question = choice.question
    return {
        "question": question.id,
        "ask": question.ask,
        "kind": question.kind,
        "options": {o.id: o.say for o in question.options.values()} if question.chosen else {},
        "example": question.example,
        "why": reason(choice),
        "bits": round(choice.worth, 3),
        "find_out": question.find_out,
    }
