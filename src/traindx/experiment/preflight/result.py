"""A whole checklist with its answers."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any

from traindx.core.nouns import ACTED_ON, Number
from traindx.core.pool import PooledFinding
from traindx.experiment.preflight.check import GROUPS, CheckAnswer, Item, items, unknown
from traindx.experiment.preflight.failure_advice import from_finding
from traindx.experiment.preflight.observations import UNTOUCHED, Attempt, Flight
from traindx.knowledge.catalogue import PRIORS, causes

SCHEMA = "traindx/preflight/1"
_WORDS = {"pass": "pass", "fail": "FAIL", "unknown": "?"}


@dataclass(frozen=True)
class Checklist:
    """Every item with its answer; true when nothing failed. `notes` are about the whole."""

    answers: tuple[tuple[Item, CheckAnswer], ...]
    attempts: tuple[Attempt, ...]
    seconds: float
    notes: tuple[str, ...] = ()
    lasting: tuple[PooledFinding, ...] = ()
    """What was found about script and data that a longer run does not change."""

    @property
    def failures(self) -> tuple[tuple[Item, CheckAnswer], ...]:
        return tuple(pair for pair in self.answers if pair[1].status == "fail")

    def __bool__(self) -> bool:
        return not self.failures

    def __getitem__(self, id: str) -> CheckAnswer:
        """The answer of an item, by its name."""
        for item, answer in self.answers:
            if item.id == id:
                return answer
        raise KeyError(id)

    def count(self, status: str) -> int:
        return sum(answer.status == status for _, answer in self.answers)

    def to_dict(self) -> dict[str, Any]:
        """As plain data: what `traindx preflight --json` prints."""
        return {
            "schema": SCHEMA,
            "passed": bool(self),
            "seconds": round(self.seconds, 2),
            "counts": {status: self.count(status) for status in ("pass", "fail", "unknown")},
            "checks": [_check_dict(item, answer) for item, answer in self.answers],
            "arms": [
                {
                    "name": attempt.name,
                    "ended": attempt.ended,
                    "said": attempt.message,
                    "steps": attempt.steps,
                    "seconds": round(attempt.seconds, 2),
                    "refused": attempt.refused or None,
                }
                for attempt in self.attempts
            ],
            "notes": list(self.notes),
        }

    def __str__(self) -> str:
        lines = []
        for item, answer in self.answers:
            lines.append(f"{_WORDS[answer.status]:<4}  {item.title}: {answer.text}")
            if answer.status == "fail" and answer.do:
                lines.append(f"      {answer.do}")
        lines += self.notes
        return "\n".join(lines)


def _check_dict(item: Item, answer: CheckAnswer) -> dict[str, Any]:
    return {
        "id": item.id,
        "title": item.title,
        "group": item.group,
        "status": answer.status,
        "text": answer.text,
        "numbers": {name: _number(value) for name, value in answer.numbers.items()},
        "do": answer.do or None,
        "cause": answer.cause or None,
    }


def _number(value: Number) -> Number:
    """JSON has no NaN: it becomes a word."""
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def check(flight: Flight, seconds: float) -> Checklist:
    """Every item answered."""
    answers = tuple((item, _guarded(item, flight)) for item in items())
    attempts = tuple(flight.attempts.values())
    return Checklist(answers, attempts, seconds, flight.notes, tuple(_lasting(flight, answers)))


def _lasting(flight: Flight, answers: Sequence[tuple[Item, CheckAnswer]]) -> Iterator[PooledFinding]:
    """Findings that are about no curve, and failures of checks that are as lasting."""
    for finding in flight.findings.values():
        about_data = finding.series is None or finding.series.startswith(("input/", "target/"))
        if finding.symptom is not None and finding.severity in ACTED_ON and about_data:
            yield PooledFinding(finding.id, finding.text, finding.symptom, finding.severity, finding.numbers)
    for item, answer in answers:
        if item.lasting and answer.status == "fail" and flight.trouble(*item.findings) is None:
            symptom = _symptom(answer.cause)
            yield PooledFinding(item.id, answer.text, symptom, "medium", answer.numbers, answer.cause)


def _symptom(cause: str) -> str:
    """How a cause mostly shows."""
    shows = causes()[cause].symptoms if cause in causes() else {}
    return min(shows, key=lambda symptom: PRIORS.index(shows[symptom]), default="silent_defect")


def _guarded(item: Item, flight: Flight) -> CheckAnswer:
    import os

    try:
        return _answer(item, flight)
    except Exception as error:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        return unknown(f"the check itself failed ({type(error).__name__}: {error})")


def _answer(item: Item, flight: Flight) -> CheckAnswer:
    parameters = signature(item.measure).parameters
    if "case" in parameters and flight.untouched is None:
        return unknown(flight.why_not(UNTOUCHED))
    inputs = {"flight": flight, "case": flight.untouched}
    answer = item.measure(**{name: inputs[name] for name in parameters})
    finding = flight.trouble(*item.findings)
    return answer if finding is None else from_finding(flight, finding, **answer.numbers)


__all__ = ["GROUPS", "SCHEMA", "Checklist", "check"]
