"""What to ask next: the question whose answer is expected to decide most about the cause.

A question is asked of a person (questions.toml) or of the log: a check that could not be made would
be an answer too, if its field were logged.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from traindx.core.nouns import Scalar
from traindx.knowledge.catalogue import Cause
from traindx.knowledge.weights import Weight

KINDS = ("one", "any", "settings", "values", "onset", "progress", "waiting", "words")
# How likely somebody can answer, by what it takes.
KNOWN = {"know": 0.9, "look": 0.6, "try": 0.25}
# What a person says weighs less than the same when it was measured.
ANSWER_WEIGHT = 0.85
# An answer that weighs this much on a cause states that the cause is there.
DIRECT = 5.0
_LEAST_GAIN = 0.03
_BASE_RATE = 0.1
_MOST_LIKELY = 0.95


@dataclass(frozen=True)
class Option:
    """One answer. `bits` weigh on causes by name; `sees` are findings it confirms, `rules_out` others.

    `shown_by` are findings of a log, recording or script that would show the same. `symptom` is what the
    problem is, if it is not the one that was reported; `range` the values that amount to this answer.
    """

    id: str
    say: str
    often: float
    bits: Mapping[str, float]
    sees: tuple[str, ...] = ()
    rules_out: tuple[str, ...] = ()
    shown_by: tuple[str, ...] = ()
    set: Mapping[str, Scalar] | None = None
    fine: bool = False
    symptom: str = ""
    range: tuple[float, float] | None = None


@dataclass(frozen=True)
class Question:
    """What is asked, for which `symptoms` (all when empty), and how to find out who does not know."""

    id: str
    ask: str
    kind: str
    effort: str
    options: Mapping[str, Option]
    find_out: str
    symptoms: frozenset[str] = frozenset()
    settings: tuple[str, ...] = ()
    series: tuple[str, ...] = ()
    example: str = ""
    short: str = ""

    @property
    def chosen(self) -> bool:
        """Whether it is answered by choosing, not by giving values."""
        return self.kind in ("one", "any")

    def concerns(self, symptoms: Sequence[str]) -> bool:
        return not self.symptoms or bool(self.symptoms & set(symptoms))

    def settled(self, checked: Set[str]) -> bool:
        """Whether checks that were made have answered it already."""
        findings = [(*o.sees, *o.shown_by) for o in self.options.values() if not o.fine]
        return any(findings) and all(set(names) & checked for names in findings if names)


@cache
def questions() -> Mapping[str, Question]:
    """Every question by its id, in the order of a plain interview."""
    data = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))
    return {name: _question(name, entry) for name, entry in data.items()}


def _question(name: str, entry: Mapping[str, Any]) -> Question:
    options = {key: _option(key, option) for key, option in entry["options"].items()}
    return Question(
        id=name,
        ask=entry["ask"],
        kind=entry["kind"],
        effort=entry["effort"],
        options=options,
        find_out=entry["find_out"],
        symptoms=frozenset(entry.get("symptoms", ())),
        settings=tuple(entry.get("settings", ())),
        series=tuple(entry.get("series", "").split()),
        example=entry.get("example", ""),
        short=entry.get("short", entry["ask"]),
    )


def _option(name: str, entry: Mapping[str, Any]) -> Option:
    return Option(
        id=name,
        say=entry["say"],
        often=float(entry["often"]),
        bits=entry.get("bits", {}),
        sees=tuple(entry.get("sees", ())),
        rules_out=tuple(entry.get("rules_out", ())),
        shown_by=tuple(entry.get("shown_by", ())),
        set=entry.get("set"),
        fine=bool(entry.get("fine", False)),
        symptom=entry.get("symptom", ""),
        range=tuple(entry["range"]) if "range" in entry else None,
    )


def next_questions(
    shares: Mapping[str, float],
    rest: float,
    causes: Mapping[str, Cause],
    missing: Mapping[str, str],
    logging: Mapping[str, str],
    symptoms: Sequence[str] = (),
    count: int = 3,
    *,
    asked: Set[str] = frozenset(),
    checked: Set[str] = frozenset(),
) -> tuple[str, ...]:
    """The most informative questions first: to the person, and for fields that are not in the log.

    `missing` is finding -> need that could not be met; `logging` is need -> how to ask for it. Left out
    are questions that were `asked` and those that findings which were `checked` have answered.
    """
    gains: dict[str, float] = {}
    for question in questions().values():
        fit = question.chosen and question.concerns(symptoms)
        if not fit or question.id in asked or question.settled(checked):
            continue
        by_cause = {c: likelihoods(question, option_bits(question, causes[c])) for c in shares}
        even = [option.often for option in question.options.values()]
        gains[question.short] = information(shares, rest, by_cause, even)
    for finding, need in missing.items():
        text = logging.get(need)
        if text is None:
            continue
        by_cause = {c: _found_or_not(causes[c].evidence.get(finding)) for c in shares}
        gain = information(shares, rest, by_cause, [_BASE_RATE, 1 - _BASE_RATE])
        gains[text] = max(gain, gains.get(text, 0.0))
    best = sorted(((gain, text) for text, gain in gains.items() if gain >= _LEAST_GAIN), reverse=True)
    return tuple(text for _, text in best[:count])


def option_bits(question: Question, cause: Cause) -> list[float]:
    """What each answer weighs on a cause that nothing else is known of."""
    return [weight_on(cause, option) for option in question.options.values()]


def weight_on(cause: Cause, option: Option) -> float:
    """What an answer weighs on a cause: by itself, or as the finding it confirms or rules out."""
    if cause.id in option.bits:
        return option.bits[cause.id]
    bits = [cause.evidence[name].seen * ANSWER_WEIGHT for name in option.sees[:1] if name in cause.evidence]
    ruled = [cause.evidence[name].unseen for name in option.rules_out if name in cause.evidence]
    return max(bits, key=abs, default=0.0) + sum(ruled)


def likelihoods(question: Question, bits: Sequence[float]) -> list[float]:
    """How likely each answer is under a cause on which the answers weigh this much."""
    weights = [
        option.often * 2.0**weight for option, weight in zip(question.options.values(), bits, strict=True)
    ]
    return [weight / sum(weights) for weight in weights]


def _found_or_not(weight: Weight | None) -> list[float]:
    """How likely the finding is, and its absence, if this is the cause."""
    if weight is None:
        return [_BASE_RATE, 1 - _BASE_RATE]
    likely = min(_MOST_LIKELY, _BASE_RATE * 2.0**weight.seen)
    if weight.unseen < 0:
        likely = max(likely, min(_MOST_LIKELY, 1 - (1 - _BASE_RATE) * 2.0**weight.unseen))
    return [likely, 1 - likely]


def information(
    shares: Mapping[str, float], rest: float, by_cause: Mapping[str, Sequence[float]], even: Sequence[float]
) -> float:
    """Expected drop of the entropy over causes, in bits."""
    rows = [(shares[cause], by_cause[cause]) for cause in shares]
    rows.append((rest, even))
    before = entropy([share for share, _ in rows])
    after = 0.0
    for answer in range(len(even)):
        joint = [share * likely[answer] for share, likely in rows]
        total = sum(joint)
        if total > 0:
            after += total * entropy([part / total for part in joint])
    return before - after


def entropy(shares: Sequence[float]) -> float:
    """Of shares that sum to one, in bits."""
    return -sum(share * math.log2(share) for share in shares if share > 0)
