"""The project's own settings: `[tool.traindx]` of a pyproject.toml, or a traindx.toml.

    [tool.traindx.map]                      # the log's columns, where their names are not understood
    loss = "my_objective"

    [tool.traindx.thresholds.loss_spikes]   # a detector's keyword-only parameters
    spike_ratio = 3.0

The nearest file in the working folder or above it counts. In traindx.toml the tables are written
without `tool.traindx`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.core import files
from traindx.core.documents import Damaged, toml_of

if TYPE_CHECKING:
    from inspect import Signature

Threshold = float | int | bool | str
# Detector -> name of the threshold -> value.
Thresholds = Mapping[str, Mapping[str, Threshold]]
_KEYS = ("map", "thresholds")
_LARGEST = 10_000_000


class BadSettings(ValueError):
    """A settings file cannot be used; the message is one line for the user."""


@dataclass(frozen=True)
class Settings:
    """What the settings file says; empty when there is none."""

    map: Mapping[str, str] = field(default_factory=dict)
    thresholds: Mapping[str, Mapping[str, Threshold]] = field(default_factory=dict)
    path: str | None = None


def load(start: Path | None = None) -> Settings:
    """The settings of the nearest file at or above `start` (the working folder)."""
    try:
        folder = (start or Path.cwd()).resolve()
    except OSError:
        return Settings()
    for place in (folder, *folder.parents):
        for path, section in ((place / "traindx.toml", ()), (place / "pyproject.toml", ("tool", "traindx"))):
            table = _table(path, section)
            if table is not None:
                return _settings(path, table)
    return Settings()


def _table(path: Path, section: tuple[str, ...]) -> Mapping[str, object] | None:
    """The settings in one file, None when it holds none."""
    try:
        content = files.read(path, _LARGEST)
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        return None
    except OSError as error:
        why = (error.strerror or type(error).__name__).lower()
        raise BadSettings(f"{path} cannot be read: {why}. Correct or remove it.") from None
    if section and b"traindx" not in content:
        return None
    try:
        table: object = toml_of(content)
    except Damaged as error:
        raise BadSettings(f"{path} is {error}. Correct it there.") from None
    for key in section:
        table = table.get(key) if isinstance(table, Mapping) else None
    if section and table is None:
        return None
    if not isinstance(table, Mapping):
        raise BadSettings(f"{path}: tool.traindx must be a table, like [tool.traindx.map]; got {table!r}.")
    return table


def _settings(path: Path, table: Mapping[str, object]) -> Settings:
    for key in table:
        if key not in _KEYS:
            allowed = ", ".join(_KEYS)
            raise BadSettings(f"{path}: unknown key {key!r}{nearest(key, _KEYS)}. Known keys: {allowed}.")
    columns = _inner(path, "map", table.get("map", {}))
    for name, column in columns.items():
        if not isinstance(column, str) or not column:
            raise BadSettings(f"{path}: map.{name} must be the name of a column; got {column!r}.")
    thresholds = _inner(path, "thresholds", table.get("thresholds", {}))
    for detector, parameters in thresholds.items():
        for name, value in _inner(path, f"thresholds.{detector}", parameters).items():
            if not isinstance(value, Threshold):
                where = f"{path}: thresholds.{detector}.{name}"
                raise BadSettings(f"{where} must be a single value; got {value!r}.")
    return Settings(columns, thresholds, str(path))  # type: ignore[arg-type]


def _inner(path: Path, key: str, value: object) -> Mapping[str, object]:
    if not isinstance(value, Mapping):
        raise BadSettings(f"{path}: {key} must be a table, like [tool.traindx.{key}]; got {value!r}.")
    return value


def check_thresholds(
    overrides: Mapping[str, Mapping[str, Threshold]], signatures: Mapping[str, Signature]
) -> list[str]:
    """What is wrong with threshold overrides, one line each; empty when all fit.

    A detector's thresholds are its keyword-only parameters; a value must be of its default's kind.
    """
    errors = []
    for detector, values in overrides.items():
        signature = signatures.get(detector)
        if signature is None:
            errors.append(f"no detector is called {detector!r}{nearest(detector, signatures)}")
            continue
        defaults = {p.name: p.default for p in signature.parameters.values() if p.kind is p.KEYWORD_ONLY}
        for name, value in values.items():
            if name not in defaults:
                errors.append(f"{detector} has no threshold {name!r}{nearest(name, defaults)}")
            elif not _fits(value, defaults[name]):
                expected = f"{_kind(defaults[name])} (it is {defaults[name]!r} by default)"
                errors.append(f"{detector}.{name} must be {expected}, not {value!r}")
    return errors


def _fits(value: Threshold, default: object) -> bool:
    if isinstance(default, bool) or isinstance(value, bool):
        return isinstance(default, bool) and isinstance(value, bool)
    if isinstance(default, int):
        return isinstance(value, int) and abs(value) < 1 << 53
    if isinstance(default, float):
        return isinstance(value, int | float) and abs(value) <= sys.float_info.max
    return isinstance(value, type(default))


def _kind(default: object) -> str:
    kinds: dict[type, str] = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}
    return kinds.get(type(default), type(default).__name__)


def nearest(word: str, candidates: Iterable[str]) -> str:
    """` (did you mean 'loss_spike'?)` when something like the word is known."""
    from difflib import get_close_matches

    close = get_close_matches(word, list(candidates), n=1, cutoff=0.5)
    return f" (did you mean {close[0]!r}?)" if close else ""
