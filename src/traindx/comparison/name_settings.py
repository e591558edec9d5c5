"""Settings that only the names of runs show: `sweep/lr=0.01,bs=64/seed3.csv`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from traindx.core.names import setting_name
from traindx.core.nouns import Scalar

_NUMBER = r"(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][-+]?\d+)?"
_GIVEN = re.compile(rf"(?<![A-Za-z0-9])([A-Za-z][A-Za-z_]*?)=({_NUMBER}|[A-Za-z][\w.]*?)(?=[^A-Za-z0-9.+]|$)")
_JOINED = re.compile(rf"(?<![A-Za-z0-9])([A-Za-z]+(?:[_-][A-Za-z]+)*)[_-]?({_NUMBER})(?![A-Za-z0-9])")
_WORDS = re.compile(r"[A-Za-z]+")
_SHORT = {"s": "seed", "mom": "momentum"}
_OPTIMIZERS = frozenset(
    "sgd adam adamw rmsprop adagrad adadelta lion lamb lars nadam radam adafactor".split()
)
_ENDINGS = re.compile(r"\.(?:csv|tsv|json|jsonl|txt|log|out|gz|db|wandb)\b")


def settings_of_names(names: Sequence[str]) -> list[dict[str, Scalar]]:
    """For each name the settings in it; words that are in every name say nothing."""
    by_name = [_settings_in(name) for name in names]
    values: dict[str, list[str]] = {}
    for name_settings in by_name:
        for key, value in name_settings.items():
            values.setdefault(key, []).append(str(value))
    varying = {key for key, seen_values in values.items() if len(set(seen_values)) > 1}
    return [
        {key: value for key, value in name_settings.items() if key in varying} for name_settings in by_name
    ]


def _settings_in(name: str) -> dict[str, Scalar]:
    plain = _ENDINGS.sub("", name)
    settings: dict[str, Scalar] = {}
    for word in _WORDS.findall(plain):
        if word.lower() in _OPTIMIZERS:
            settings["optimizer"] = word.lower()
    for key, value in _JOINED.findall(plain):
        setting = _setting(key)
        if setting is not None:
            settings[setting] = _value(value)
    for key, value in _GIVEN.findall(plain):
        settings[_SHORT.get(key.lower()) or setting_name(key) or key] = _value(value)
    return settings


def _setting(key: str) -> str | None:
    """The setting that the end of a few joined words names: `mlp_adam_lr` is lr."""
    words = re.split("[_-]", key.lower())
    ends = ("_".join(words[at:]) for at in range(len(words)))
    return next((name for end in ends if (name := _SHORT.get(end) or setting_name(end))), None)


def _value(text: str) -> Scalar:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
