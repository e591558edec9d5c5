"""Configuration keys of any framework as the settings that matter for a diagnosis."""

from __future__ import annotations

import re
from collections.abc import Mapping

from traindx.core.names.vocabulary import SETTINGS, WORDED_SETTINGS
from traindx.core.nouns import Scalar

_SETTING_WORDS = {word: name for name, line in SETTINGS.items() for word in line.split()}
_SETTING_ORDER = {word: at for line in SETTINGS.values() for at, word in enumerate(line.split())}


def setting_name(raw: str) -> str | None:
    """The canonical setting that a configuration key means."""
    return _setting(raw)[0]


def _setting(raw: str) -> tuple[str | None, int]:
    key = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", raw.strip().lstrip("-"))
    parts = [re.sub(r"[^a-z0-9]+", "_", p.lower()).strip("_") for p in re.split(r"[./]", key)]
    for depth, part in enumerate(("_".join(parts[-2:]), parts[-1])):
        if part in _SETTING_WORDS:
            return _SETTING_WORDS[part], _SETTING_ORDER[part] + 50 * max(len(parts) - 1 - depth, 0)
    return None, 0


def settings(config: Mapping[str, Scalar]) -> dict[str, Scalar]:
    """The settings that matter for diagnosis, under canonical names."""
    best: dict[str, tuple[int, Scalar]] = {}
    for raw, value in config.items():
        name, rank = _setting(raw)
        if value is None or value == "" or (name == "precision" and _plain(value) in (True, False)):
            continue
        if name is not None and name not in WORDED_SETTINGS and isinstance(_plain(value), str):
            continue
        if name in ("max_steps", "epochs", "warmup") and _plain(value) == -1:
            continue
        if name is not None and (name not in best or rank < best[name][0]):
            best[name] = (rank, _plain(value))
    by_name = {name: value for name, (_, value) in best.items()}
    if by_name.get("bf16") is True:
        by_name.setdefault("precision", "bf16")
    elif by_name.get("fp16") is True:
        by_name.setdefault("precision", "fp16")
    return dict(sorted(by_name.items(), key=lambda item: list(SETTINGS).index(item[0])))


def _plain(value: Scalar) -> Scalar:
    """Numbers written as text become numbers."""
    if not isinstance(value, str):
        return value
    text = value.strip().strip("'\"")
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    try:
        number = float(text.replace(",", "") if re.fullmatch(r"\d{1,3}(,\d{3})+", text) else text)
    except ValueError:
        return text
    return int(number) if number.is_integer() and re.fullmatch(r"[-+]?[\d,]+", text) else number
