"""What was tried in this project before and what it did: `.traindx/casebook.jsonl`, one line a trial."""

from __future__ import annotations

import contextlib
import json
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from traindx.core import files
from traindx.core.documents import json_of

_FOLDER, _FILE = ".traindx", "casebook.jsonl"
_LARGEST = 20_000_000


@dataclass(frozen=True)
class Entry:
    """One remedy tried on one script; `gain` is a share of the loss, or a difference of scores."""

    date: str
    script: str
    symptom: str
    cause: str
    remedy: str
    change: str
    verdict: str
    metric: str = ""
    before: float | None = None
    after: float | None = None
    gain: float | None = None
    pairs: int = 0
    p: float | None = None
    steps: int | None = None
    edited: bool = False
    said: str = ""

    @property
    def effect(self) -> str:
        """Its numbers in a few words."""
        if self.before is None and self.after is None:
            return self.said
        ends = [f"{value:.4g}" if value is not None else "not finite" for value in (self.before, self.after)]
        return f"{self.metric} {ends[0]} -> {ends[1]}"


def path_of(folder: str | os.PathLike[str] = ".") -> Path:
    """The path of a project's casebook."""
    return Path(folder) / _FOLDER / _FILE


def add(entries: Iterable[Entry], folder: str | os.PathLike[str] = ".") -> Path:
    """Append entries, each in one write."""
    path = path_of(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists():
        files.opened(path).close()  # writing to a pipe would block until it is read
    with open(path, "ab", buffering=0) as file:
        for entry in entries:
            file.write(json.dumps(_plain(entry)).encode() + b"\n")
    return path


def _plain(entry: Entry) -> dict[str, object]:
    """JSON that any program reads: what is not finite is null."""
    return {
        key: None if isinstance(value, float) and not math.isfinite(value) else value
        for key, value in asdict(entry).items()
    }


def entries(folder: str | os.PathLike[str] = ".") -> list[Entry]:
    """Every entry that can be read, the oldest first; none where there is no casebook."""
    try:
        return read(folder)[0]
    except OSError:
        return []


def read(folder: str | os.PathLike[str] = ".") -> tuple[list[Entry], int]:
    """The latest entries of a casebook, and how many torn or foreign lines were passed over."""
    entries_read: list[Entry] = []
    lines = files.tail(path_of(folder), _LARGEST).splitlines()
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, KeyError):
            entries_read.append(_entry(json_of(line)))
    return entries_read, sum(map(bool, lines)) - len(entries_read)


def _entry(data: object) -> Entry:
    if not isinstance(data, dict):
        raise TypeError
    kinds = {field.name: str(field.type) for field in fields(Entry)}
    values: dict[str, object] = {}
    for key, value in data.items():
        if key not in kinds:
            continue
        if not _fits(value, kinds[key]):
            raise TypeError(key)
        values[key] = value
    return Entry(**values)  # type: ignore[arg-type]


def _fits(value: object, kind: str) -> bool:
    if value is None:
        return "None" in kind
    if kind.startswith("str"):
        return isinstance(value, str)
    if kind.startswith("bool"):
        return isinstance(value, bool)
    return isinstance(value, int | float) and not isinstance(value, bool)


def search(entries_read: Sequence[Entry], words: Sequence[str]) -> list[Entry]:
    """Entries in which every word occurs somewhere."""
    low = [word.lower() for word in words]
    return [entry for entry in entries_read if all(word in _text(entry) for word in low)]


def _text(entry: Entry) -> str:
    words = (entry.date, entry.script, entry.symptom, entry.cause, entry.remedy, entry.change, entry.verdict)
    return " ".join((*words, entry.said, "edited" if entry.edited else "")).lower()


def for_cause(cause: str, folder: str | os.PathLike[str] = ".") -> list[Entry]:
    """What was tried for a cause here before, the latest first and each change once."""
    latest: dict[tuple[str, str], Entry] = {}
    for entry in entries(folder):
        if entry.cause == cause and entry.verdict in ("helped", "hurt"):
            latest[entry.script, entry.change] = entry
    return sorted(latest.values(), key=lambda entry: entry.date, reverse=True)


def sentence(entry: Entry) -> str:
    """An entry as a line next to a diagnosis."""
    word = "helped" if entry.verdict == "helped" else "made it worse"
    return f"{entry.change} {word} here before ({entry.script}, {entry.date[:10]}: {entry.effect})"
