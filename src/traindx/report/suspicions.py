"""Suspicions and what became of them, in words and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from traindx.knowledge.suspicions import SUSPECTED_BITS
from traindx.report.document import Block, Labelled
from traindx.report.proof import headline
from traindx.report.text import lasting, percent

if TYPE_CHECKING:
    from traindx.experiment.confirm.next_experiment import ExperimentChoice
    from traindx.experiment.confirm.suspicion_tests import SuspicionAnswer
    from traindx.knowledge.suspicions import Suspicion

_STYLES = {"confirmed": "red", "refuted": "green", "not testable": "yellow"}
_ANSWERS = {"confirmed": "confirmed", "refuted": "refuted", "not testable": "not testable here"}


def testing(suspicion: Suspicion, choice: ExperimentChoice | None) -> Iterator[Block]:
    """What is run for a suspicion."""
    if choice is None:
        yield Labelled("suspect", f"{suspicion.text}: running with and without this edit")
        return
    plan = choice.plans[0]
    yield Labelled("suspect", f"{suspicion.text}: trying {plan.experiment.title} ({plan.change})")


def suspicion_blocks(answers: Sequence[SuspicionAnswer]) -> Iterator[Block]:
    """One paragraph each: the answer, the numbers, the place, what it cost."""
    for answer in answers:
        author = "" if answer.suspicion.by == "you" else f" ({answer.suspicion.by})"
        text = f"{answer.suspicion.text}{author}: {_ANSWERS[answer.answer]}"
        yield Labelled("suspect", text, _STYLES[answer.answer])
        yield Labelled("because", because(answer))
        if answer.place:
            yield Labelled("place", answer.place)


def because(answer: SuspicionAnswer) -> str:
    """The reason with its numbers."""
    text = answer.because.rstrip(".")
    if answer.proved is not None:
        text = f"{text}. {headline(answer.proved.best).rstrip('.')}"
    if answer.shown and answer.before is not None and answer.after is not None:
        text += f"; its share {percent(answer.before)} -> {percent(answer.after)}"
    cost = f" ({lasting(answer.seconds)} of running)" if answer.seconds else ""
    return f"{text}{cost}."


def suspicion_dict(answer: SuspicionAnswer) -> dict[str, Any]:
    """One suspicion for programs."""
    suspicion = answer.suspicion
    place = suspicion.place
    return {
        "suspect": suspicion.text,
        "cause": suspicion.cause or None,
        "place": None if place is None else {"file": place.file, "line": place.line},
        "patch": suspicion.patch or None,
        "by": suspicion.by,
        "why": suspicion.why or None,
        "weight_bits": SUSPECTED_BITS if suspicion.cause else None,
        "answer": answer.answer,
        "because": because(answer),
        "decided_by": answer.by,
        "place_answer": answer.place or None,
        "share_before": None if answer.before is None else round(answer.before, 4),
        "share_after": None if answer.after is None else round(answer.after, 4),
        "experiments": [
            {"experiment": result.experiment.id, "outcome": result.outcome,
             "clarity": round(result.clarity, 2), "bits": result.bits(suspicion.cause), "text": result.text}
            for result in answer.shown
        ],
        "seconds": round(answer.seconds, 2),
    }  # fmt: skip
