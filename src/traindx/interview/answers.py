"""An answer to a question, typed or read from a file."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from traindx.core.nouns import Run, Scalar
from traindx.interview.complaint import not_understood, understand
from traindx.interview.facts import facts_in
from traindx.interview.pasted import curves_in
from traindx.interview.stated_settings import stated_settings
from traindx.interview.typed_numbers import numbers_in, split_pair
from traindx.knowledge.questions import Question

DONT_KNOW = ("?", "dont know", "don't know", "unknown", "no idea", "idk")
LONGEST = 200_000
# A loss that is this much higher right before the NaN than it was has risen.
_ROSE = 1.3
_EARLY, _LATE = 0.1, 0.9
_WAITS = 1 / 3


class NotUnderstood(Exception):
    """An answer that fits no question's form; the message says what would."""


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer as it was understood; `text` is how it was given and is kept as it is in a file.

    `options` are those it amounts to, `settings` and `pasted` what it says of the run itself, `symptoms` what
    it reports, as words were understood (`observed`).
    """

    question: str
    text: str
    options: tuple[str, ...] = ()
    settings: Mapping[str, Scalar] = field(default_factory=dict)
    pasted: Run | None = None
    step: float | None = None
    symptoms: tuple[str, ...] = ()
    observed: tuple[str, ...] = ()

    @property
    def unknown(self) -> bool:
        content = self.options or self.settings or self.symptoms
        return not content and self.pasted is None and self.step is None


def understood(question: Question, raw: object) -> Answer:
    """The answer that a text, number, list or table gives; raises NotUnderstood."""
    text = _text(raw)
    if len(text) > LONGEST:
        raise NotUnderstood(f"that is more than {LONGEST:,} characters: paste the part around the problem.")
    if text.strip().lower().replace("\u2019", "'").rstrip(".!") in DONT_KNOW:
        return Answer(question.id, "?")
    if not text.strip():
        raise NotUnderstood(f"the answer is empty. {expected(question)}")
    if question.chosen:
        return Answer(question.id, text, options=_options(question, raw, text))
    if question.kind == "settings":
        return _settings(question, raw, text)
    forms = {
        "words": _description,
        "values": _values,
        "onset": _onset,
        "progress": _progress,
        "waiting": _waiting,
    }
    return forms[question.kind](question, text)


def expected(question: Question) -> str:
    """The form an answer may take, in a sentence."""
    if question.kind == "one":
        return f"Give a number from 1 to {len(question.options)}, or ? for don't know."
    if question.kind == "any":
        return f"Give one or more numbers from 1 to {len(question.options)}, or ? for don't know."
    if question.kind == "values":
        return "Give bare numbers or lines of a log, oldest first, or ? for don't know."
    return f"For example: {question.example}. Or ? for don't know."


def _text(raw: object) -> str:
    """One text for any value of a file."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, bool):
        return "yes" if raw else "no"
    if isinstance(raw, Mapping):
        return " ".join(f"{key}={_text(value)}" for key, value in raw.items())
    if isinstance(raw, Sequence):
        rows = any(isinstance(item, Sequence | Mapping) and not isinstance(item, str) for item in raw)
        return ("\n" if rows else " ").join(_text(item) for item in raw)
    return "" if raw is None else str(raw)


def _options(question: Question, raw: object, text: str) -> tuple[str, ...]:
    words = [str(item) for item in raw] if isinstance(raw, list | tuple) else None
    parts = words or _parts(question, text)
    chosen = tuple(dict.fromkeys(_option(question, part) for part in parts))
    if question.kind == "one" and len(chosen) > 1:
        raise NotUnderstood(f"only one of them can be so. {expected(question)}")
    fine = [name for name in chosen if question.options[name].fine]
    if fine and len(chosen) > 1:
        label = question.options[fine[0]].say
        raise NotUnderstood(f'"{label}" and another at once cannot be. {expected(question)}')
    return chosen


def _parts(question: Question, text: str) -> list[str]:
    """`1 3`, `1,3`; a text with other words is one part, unless all its words are options."""
    parts = text.replace(",", " ").replace(";", " ").split()
    all_known = all(part.isdecimal() or part.lower() in question.options for part in parts)
    return parts if all_known else [text.strip()]


def _option(question: Question, part: str) -> str:
    text = " ".join(part.lower().split()).strip(".")
    names = list(question.options)
    if text.isdecimal():
        if 1 <= int(text[:9]) <= len(names):
            return names[int(text) - 1]
        raise NotUnderstood(f"there is no {text[:20]}. {expected(question)}")
    if text in question.options:
        return text
    text = {"y": "yes", "n": "no", "none": "none"}.get(text, text)
    says = {name: option.say.lower() for name, option in question.options.items()}
    for fits in (
        [name for name in names if says[name] == text],
        [name for name in names if says[name].startswith((f"{text} ", f"{text},", f"{text}:"))],
        [name for name in names if len(text) >= 4 and text in says[name]],
    ):
        if len(fits) == 1:
            return fits[0]
    raise NotUnderstood(f"no option reads like that. {expected(question)}")


def _settings(question: Question, raw: object, text: str) -> Answer:
    settings = stated_settings(raw if isinstance(raw, Mapping) else text, question.settings)
    if not settings:
        raise NotUnderstood(f"no setting was understood in it. {expected(question)}")
    return Answer(question.id, text, settings=settings)


def _description(question: Question, text: str) -> Answer:
    """The symptoms, settings and values of a text in somebody's own words."""
    complaint = understand(text)
    settings, pasted = facts_in(text)
    if not complaint.symptoms and not settings and pasted is None:
        raise NotUnderstood(not_understood(complaint))
    return Answer(
        question.id,
        text,
        settings=settings,
        pasted=pasted,
        symptoms=complaint.symptoms,
        observed=complaint.observed,
    )


def _values(question: Question, text: str) -> Answer:
    run = curves_in(text, question.series)
    if run is None:
        raise NotUnderstood(f"no curve was understood in it. {expected(question)}")
    return Answer(question.id, text, pasted=run)


def _onset(question: Question, text: str) -> Answer:
    """`1240: 2.1 2.2 3.9`: the step, then the last good losses."""
    step, *losses = numbers_in(text) or [math.nan]
    if not math.isfinite(step) or step < 0:
        raise NotUnderstood(f"the step must be a number. {expected(question)}")
    good = [value for value in losses if math.isfinite(value)]
    chosen: tuple[str, ...] = ()
    if step <= 1 and not good:
        chosen = ("first",)
    elif len(good) >= 3:
        rose = good[-1] - min(good) > (_ROSE - 1) * abs(min(good))
        chosen = ("rose",) if rose else ("calm",)
    return Answer(question.id, text, options=chosen, step=step)


def _progress(question: Question, text: str) -> Answer:
    """`1200 of 50000`."""
    position, total = _pair(question, text)
    if position > total:
        raise NotUnderstood(
            f"step {position:g} of {total:g} is beyond the end: give the present step first, then the total."
        )
    share = position / total if total else 0.0
    name = "early" if share < _EARLY else "late" if share > _LATE else "under_way"
    return Answer(question.id, text, options=(name,), settings={"max_steps": total, "steps_done": position})


def _waiting(question: Question, text: str) -> Answer:
    """`0.08 of 0.10`, or `80 %`."""
    if "%" in text:
        share = (numbers_in(text) or [math.nan])[0] / 100
    else:
        wait, step = _pair(question, text)
        share = wait / step if step > 0 else math.nan
    if not 0 <= share <= 1:
        raise NotUnderstood(f"the wait is a part of the step. {expected(question)}")
    return Answer(question.id, text, options=("waits" if share >= _WAITS else "quick",))


def _pair(question: Question, text: str) -> tuple[float, float]:
    pair = split_pair(text)
    if pair is None:
        raise NotUnderstood(f"two numbers are wanted. {expected(question)}")
    return pair
