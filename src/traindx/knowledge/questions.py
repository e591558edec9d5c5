"""What to ask next: the question whose answer is expected to tell most about the cause.

A question is asked of a person (questions.toml) or of the log: a finding that could not be looked for
would be an answer too, if its field were logged.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from traindx.knowledge.catalogue import Cause, Weight

_LEAST_GAIN = 0.03
_BASE_RATE = 0.1
_MOST_LIKELY = 0.95


@dataclass(frozen=True)
class Question:
    """What is asked; `answers` is answer -> cause -> bits, `often` how likely an answer is by itself.

    Asked only when the log lacks one of the fields it is `about`, and for its `symptoms`, if it names any.
    """

    id: str
    ask: str
    answers: Mapping[str, Mapping[str, float]]
    often: Mapping[str, float]
    about: tuple[str, ...] = ()
    symptoms: frozenset[str] = frozenset()


@cache
def questions() -> Mapping[str, Question]:
    """Every question by its id."""
    data = tomllib.loads((Path(__file__).parent / "questions.toml").read_text(encoding="utf-8"))
    made = {}
    for name, entry in data.items():
        answers = entry["answers"]
        even = {answer: 1 / len(answers) for answer in answers}
        made[name] = Question(
            name,
            entry["ask"],
            answers,
            entry.get("often", even),
            tuple(entry.get("about", ())),
            frozenset(entry.get("symptoms", ())),
        )
    return made


def next_questions(
    shares: Mapping[str, float],
    rest: float,
    causes: Mapping[str, Cause],
    missing: Mapping[str, str],
    logging: Mapping[str, str],
    symptoms: Sequence[str] = (),
    count: int = 3,
) -> tuple[str, ...]:
    """The most telling questions first: of the person, and for fields that are not in the log.

    `missing` is finding -> need that could not be met; `logging` is need -> how to ask for it.
    """
    gains: dict[str, float] = {}
    for question in questions().values():
        if question.about and not any(field in need for field in question.about for need in missing.values()):
            continue
        if question.symptoms and not question.symptoms & set(symptoms):
            continue
        given = {c: _likelihoods(question, c) for c in shares}
        even = [question.often[answer] for answer in question.answers]
        gains[question.ask] = _gain(shares, rest, given, even)
    for finding, need in missing.items():
        text = logging.get(need)
        if text is None:
            continue
        given = {c: _seen_or_not(causes[c].evidence.get(finding)) for c in shares}
        gain = _gain(shares, rest, given, [_BASE_RATE, 1 - _BASE_RATE])
        gains[text] = max(gain, gains.get(text, 0.0))
    best = sorted(((gain, text) for text, gain in gains.items() if gain >= _LEAST_GAIN), reverse=True)
    return tuple(text for _, text in best[:count])


def _likelihoods(question: Question, cause: str) -> list[float]:
    """How likely each answer is if this is the cause."""
    weights = [
        question.often[answer] * 2.0 ** bits.get(cause, 0.0) for answer, bits in question.answers.items()
    ]
    return [weight / sum(weights) for weight in weights]


def _seen_or_not(weight: Weight | None) -> list[float]:
    """How likely the finding is, and its absence, if this is the cause."""
    if weight is None:
        return [_BASE_RATE, 1 - _BASE_RATE]
    seen = min(_MOST_LIKELY, _BASE_RATE * 2.0**weight.seen)
    if weight.unseen < 0:
        seen = max(seen, min(_MOST_LIKELY, 1 - (1 - _BASE_RATE) * 2.0**weight.unseen))
    return [seen, 1 - seen]


def _gain(
    shares: Mapping[str, float], rest: float, given: Mapping[str, Sequence[float]], even: Sequence[float]
) -> float:
    """Expected drop of the entropy over causes, in bits."""
    rows = [(shares[cause], given[cause]) for cause in shares]
    rows.append((rest, even))
    before = _entropy([share for share, _ in rows])
    after = 0.0
    for answer in range(len(even)):
        joint = [share * likelihoods[answer] for share, likelihoods in rows]
        total = sum(joint)
        if total > 0:
            after += total * _entropy([part / total for part in joint])
    return before - after


def _entropy(shares: Sequence[float]) -> float:
    return -sum(share * math.log2(share) for share in shares if share > 0)
