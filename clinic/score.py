"""How right a diagnosis is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from .training import Diagnosis, Outcome
from .truth import Script

GRAVE = ("medium", "high", "critical")


@dataclass(frozen=True)
class Score:
    """One script: what was asked, what was said, how right it is; `line` is None where no line is asked."""

    name: str
    cause: str
    said: tuple[str, ...]
    first: bool
    three: bool
    anywhere: bool
    line: bool | None
    place: str
    alarms: tuple[str, ...]
    fault: str
    seconds: float

    @property
    def healthy(self) -> bool:
        return self.cause == "healthy"

    @property
    def right(self) -> bool:
        return not self.fault and (not self.alarms if self.healthy else self.first)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def score(outcome: Outcome) -> Score:
    """Judge what was said of a script against its truth."""
    script = outcome.script
    problems = [problem for told in outcome.diagnoses for problem in told["problems"]]
    ranked = [[h["cause"] for h in problem["hypotheses"]] for problem in problems]
    said = ranked[0][:3] if ranked else []
    place = _place(script, problems)
    # A script that is meant to crash on its fault still gets its diagnosis.
    fault = outcome.fault if script.healthy or not outcome.diagnoses else ""
    return Score(
        name=script.name,
        cause=script.cause,
        said=tuple(said),
        first=bool(said) and said[0] in script.right,
        three=bool(script.right & set(said)),
        anywhere=any(causes and causes[0] in script.right for causes in ranked),
        line=_line_right(script, place) if script.lines else None,
        place="" if place is None else f"{Path(place.get('file', '')).name}:{place.get('line', '?')}",
        alarms=tuple(_alarm(problem) for problem in problems if problem["severity"] in GRAVE),
        fault=fault,
        seconds=round(outcome.seconds, 1),
    )


def _place(script: Script, problems: Sequence[Diagnosis]) -> Diagnosis | None:
    """The place that goes with the right cause in the first problem, else with the cause that leads."""
    told = problems[0]["hypotheses"] if problems else []
    for hypothesis in told[:3]:
        if hypothesis["cause"] in script.right:
            return hypothesis["location"]
    return told[0]["location"] if told else None


def _line_right(script: Script, place: Diagnosis | None) -> bool:
    if place is None or not place.get("line"):
        return False
    same_file = Path(place.get("file", "")).name == script.path.name
    return same_file and place["line"] in script.line_numbers()


def _alarm(problem: Diagnosis) -> str:
    cause = problem["hypotheses"][0]["cause"] if problem["hypotheses"] else "no cause"
    return f"{problem['severity']} {problem['symptom']} ({cause}): {problem['summary']}"
