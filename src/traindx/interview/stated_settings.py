"""Settings in the words of a person: `AdamW lr=3e-4 batch 64, no warm-up, cosine`, `11M parameters`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from traindx.core import names
from traindx.core.nouns import Scalar
from traindx.interview.typed_numbers import NUMBER, number, times

_OPTIMIZERS = re.compile(
    r"\b(adamw|adam|nadam|radam|adamax|sgd|rmsprop|adagrad|adadelta|lion|lamb|lars|adafactor|muon|sophia|"
    r"prodigy|l-?bfgs)\b",
    re.IGNORECASE,
)
_SCHEDULES = re.compile(
    r"\b(constant|cosine|linear|polynomial|exponential|one-?cycle|step(?=\s*(?:decay|lr))|plateau|inverse)\b",
    re.IGNORECASE,
)
# What a word next to a number means.
_NOUNS = (
    (r"learning[ -]?rate|lr|rate", "lr"),
    (r"batch(?:[ _-]?size)?|bs", "batch_size"),
    (r"warm-?up(?:[ _]?steps)?", "warmup"),
    (r"weight[ _-]?decay|decay|wd|l2", "weight_decay"),
    (r"label[ _-]?smoothing", "label_smoothing"),
    (r"drop-?out", "dropout"),
    (r"momentum", "momentum"),
    (r"beta_?1|b1", "beta1"),
    (r"beta_?2|b2", "beta2"),
    (r"clip(?:ping)?(?:[ _]?norm)?|max[ _]grad[ _]norm", "clip"),
    (r"(?:model[ _]?)?param(?:eter)?s?|weights", "model_parameters"),
    (r"(?:train(?:ing)?[ _]?)?(?:samples|examples|images|sentences|rows|points)", "train_samples"),
    (r"accumulation|accum", "accumulation"),
)
_NONE = re.compile(
    r"\b(no|without|zero)\s+(warm-?up|momentum|weight[ _-]?decay|decay|drop-?out|clip(?:ping)?)\b"
)
_NOTHING = re.compile(r"^\s*(none|nothing|no|off|not at all)\s*\.?\s*$", re.IGNORECASE)
# What "none" says, for the settings that can be switched off.
_OFF = frozenset({"dropout", "weight_decay", "label_smoothing", "clip"})
_BETWEEN = r"\s*(?:=|:|of|is|at|size|steps)?\s*"
_SHARES = frozenset({"dropout", "label_smoothing", "momentum", "beta1", "beta2"})


def stated_settings(answer: str | Mapping[Any, Any], names_asked_for: Sequence[str]) -> dict[str, Scalar]:
    """The settings in a text or a table; only possible ones."""
    if isinstance(answer, Mapping):
        plain = {str(key): value for key, value in answer.items() if isinstance(value, str | int | float)}
        settings: dict[str, Scalar] = dict(names.settings(plain))
        has_text = any(isinstance(value, str) for value in plain.values())
        if has_text and "optimizer" in names_asked_for:
            settings = {**_words(" ".join(f"{v}" for v in plain.values())), **settings}
        return _possible(settings)
    if _NOTHING.match(answer):
        return {name: 0.0 for name in names_asked_for if name in _OFF}
    adjacent, rest = _adjacent(answer)
    settings = {**_words(answer), **adjacent}
    missing = [
        name for name in names_asked_for if name not in settings and name not in ("optimizer", "schedule")
    ]
    return _possible({**settings, **dict(zip(missing, _bare_numbers(rest), strict=False))})


def _words(text: str) -> dict[str, Scalar]:
    settings: dict[str, Scalar] = {}
    if match := _OPTIMIZERS.search(text):
        settings["optimizer"] = match[1].lower().replace("-", "")
    if match := _SCHEDULES.search(text):
        settings["schedule"] = match[1].lower().replace("-", "")
    for _, noun in _NONE.findall(text.lower()):
        settings[_canonical(noun)] = 0.0
    return settings


def _adjacent(text: str) -> tuple[dict[str, Scalar], str]:
    """`lr=3e-4`, `batch size 64`, `11M parameters`, and the text without them."""
    settings: dict[str, Scalar] = {}
    for noun, setting in _NOUNS:
        before = rf"(?<![\w-])(?:{noun}){_BETWEEN}{NUMBER.pattern}\s*%?"
        after = rf"{NUMBER.pattern}\s*(?:trainable\s+)?(?:{noun})(?![\w-])"
        match = re.search(before, text, re.IGNORECASE) or re.search(after, text, re.IGNORECASE)
        if match is not None:
            settings[setting] = float(match[1].replace(",", "")) * times(match[2])
            text = f"{text[: match.start()]} {text[match.end() :]}"
    return settings, text


def _bare_numbers(rest: str) -> list[float]:
    """The numbers of `Adam 1e-3` or of `0.5`, that no word next to them names."""
    plain = _SCHEDULES.sub(" ", _OPTIMIZERS.sub(" ", rest))
    values = [number(match) for match in NUMBER.finditer(plain)]
    return [] if re.search(r"[^\W\d_]{2,}", NUMBER.sub(" ", plain)) and len(values) > 1 else values


def _canonical(noun: str) -> str:
    return next(setting for pattern, setting in _NOUNS if re.fullmatch(pattern, noun, re.IGNORECASE))


def _possible(settings: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """Without what cannot be: a rate below 0, a dropout of 30 (taken as per cent)."""
    possible: dict[str, Scalar] = {}
    for name, value in settings.items():
        if isinstance(value, float | int) and not isinstance(value, bool):
            value = float(value)
            if not math.isfinite(value) or value < 0:
                continue
            if name in _SHARES and name != "momentum" and 1 < value <= 100:
                value /= 100
            value = int(value) if value.is_integer() and abs(value) < 2**53 else value
        possible[name] = value
    return possible
