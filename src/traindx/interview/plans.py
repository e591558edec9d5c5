"""What somebody has tried or plans: no lecture, but what would show whether it can help."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from traindx.core.nouns import Diagnosis, Hypothesis

_LIKELY = 0.3


@dataclass(frozen=True)
class PlannedAttempt:
    """A thing to try: the causes it fixes, why it often disappoints, what to observe first.

    For a problem with a symptom of `useless` it cannot help.
    """

    id: str
    say: str
    words: tuple[str, ...]
    cures: tuple[str, ...]
    why: str
    observe: str
    useless: tuple[str, ...] = ()


@dataclass(frozen=True)
class Reply:
    """The reply to a plan, given what is known."""

    plan: PlannedAttempt
    fits: Hypothesis | None
    text: str


@cache
def plans() -> Mapping[str, PlannedAttempt]:
    """Every plan by its id."""
    data = tomllib.loads((Path(__file__).parent / "plans.toml").read_text(encoding="utf-8"))
    return {
        name: PlannedAttempt(
            name,
            e["say"],
            tuple(e["words"]),
            tuple(e["cures"]),
            e["why"],
            e["observe"],
            tuple(e.get("useless", ())),
        )
        for name, e in data.items()
    }


def understood_plans(text: str) -> list[PlannedAttempt]:
    """`1 3`, ids, or words: the plans that are meant."""
    listed = list(plans().values())
    parts = re.split(r"[\s,;]+", text.strip().lower())
    if parts and all(part.isdecimal() or part in plans() for part in parts):
        chosen = [
            listed[int(p) - 1] if p.isdecimal() else plans()[p] for p in parts if _there(p, len(listed))
        ]
        return list(dict.fromkeys(chosen))
    words = " ".join(text.lower().split())
    hits = {plan.id: _hits(plan, words) for plan in listed}
    most_hits = max(hits.values(), default=0)
    return [plan for plan in listed if most_hits and hits[plan.id] == most_hits]


def _there(part: str, count: int) -> bool:
    return not part.isdecimal() or 1 <= int(part[:6]) <= count


def _hits(plan: PlannedAttempt, text: str) -> int:
    """How many letters of its words the text has: longer words are more specific."""
    hits = [word for word in plan.words if re.search(rf"\b{re.escape(word)}s?\b", text)]
    return sum(len(word) for word in hits)


def reply(plan: PlannedAttempt, diagnosis: Diagnosis) -> Reply:
    """Whether the plan fits the ranking, and what would show that it helps."""
    leading = [h for problem in diagnosis.problems for h in problem.hypotheses[:3]]
    fitting = [h for h in leading if h.cause in plan.cures]
    fits = max(fitting, key=lambda h: h.confidence, default=None)
    if fits is not None and fits.confidence >= _LIKELY:
        share = f"{fits.confidence:.0%}".replace("%", " %")
        text = f"That fits: {_lower(fits.title)} is likely here ({share}). To see it first: {plan.observe}"
        return Reply(plan, fits, text)
    problem = next((candidate for candidate in diagnosis.problems if candidate.symptom in plan.useless), None)
    useless = f"{problem.summary} It will not help here: " if problem is not None else ""
    why = _lower(plan.why) if useless else plan.why
    return Reply(plan, None, f"{useless}{why} What would show whether it can help: {plan.observe}")


def first_reply(plan: PlannedAttempt, diagnosis: Diagnosis) -> str:
    """What to say to a plan before anything is diagnosed; what is known of the run counts."""
    if diagnosis.problems:
        return reply(plan, diagnosis).text
    return (
        f"Diagnose first, then {plan.say}: {_lower(plan.why)} What does the loss do: is it flat, "
        "oscillating, rising, NaN, or good on training data only?"
    )


def _lower(text: str) -> str:
    return text[:1].lower() + text[1:]
