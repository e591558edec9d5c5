"""What commands found out about a script: `.traindx/evidence.jsonl`, one line for each time one was run.

Every later command on the same unchanged script with the same arguments reads it, so that no two disagree.
The file is untrusted: what is torn, foreign or too large is passed over, and nothing of it raises.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import shlex
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from traindx.core import files
from traindx.core.documents import json_of
from traindx.core.nouns import SEVERITIES, Number, Run, Severity

_FOLDER, _FILE = ".traindx", "evidence.jsonl"
_LARGEST = 2_000_000
_LARGEST_SCRIPT = 4_000_000
_MOST, _MOST_NUMBERS, _LONGEST = 60, 30, 600
_MOST_BITS = 6.0


@dataclass(frozen=True)
class PooledFinding:
    """A finding of a detector, or a failed check under its own name with the cause it speaks for."""

    id: str
    text: str
    symptom: str
    severity: Severity
    numbers: Mapping[str, Number] = field(default_factory=dict)
    cause: str = ""


@dataclass(frozen=True)
class PooledTrial:
    """A change that was tried: the remedy it belongs to, the knobs it moves, and the verdict."""

    remedy: str
    change: str
    verdict: str
    text: str
    knobs: tuple[str, ...] = ()


@dataclass(frozen=True)
class PooledExperiment:
    """What an experiment showed, in bits for (or against) causes."""

    id: str
    text: str
    bits: Mapping[str, float]


@dataclass(frozen=True)
class PoolEntry:
    """What one run of a command found out about a script and its arguments."""

    script: str
    sha256: str
    args: str
    command: str
    time: float
    findings: tuple[PooledFinding, ...] = ()
    trials: tuple[PooledTrial, ...] = ()
    experiments: tuple[PooledExperiment, ...] = ()

    @property
    def source(self) -> str:
        """`preflight, 10 minutes ago`."""
        return f"{self.command}, {_ago(time.time() - self.time)}"


def add(folder: str | os.PathLike[str], entry: PoolEntry, *, create: bool = True) -> bool:
    """Append what a command found out; False where it cannot be written, or there is no `.traindx` yet."""
    path = Path(folder) / _FOLDER / _FILE
    if not entry.sha256 or not (create or path.parent.is_dir()):
        return False
    if not (entry.findings or entry.trials or entry.experiments or path.exists()):
        return False  # nothing to say, and nothing older to withdraw
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            files.opened(path).close()  # whoever writes to a pipe waits for somebody to read it
        with open(path, "ab", buffering=0) as file:
            file.write(json.dumps(_finite(asdict(entry))).encode() + b"\n")
    except (OSError, ValueError):
        return False
    return True


def new_entry(script: str | None, args: Sequence[str], command: str) -> PoolEntry:
    """An entry without findings about a script as it is now; one that cannot be read is kept nowhere."""
    path = os.path.realpath(script) if script else ""
    return PoolEntry(path, digest_of(path), shlex.join(args), command, time.time())


def pool_of(run: Run) -> tuple[PoolEntry, ...]:
    """What is known about the script of a recording, if neither it nor its arguments are others now."""
    script, folder, command = (run.facts.get(name) for name in ("script", "folder", "command"))
    if not isinstance(script, Mapping) or not isinstance(folder, str) or not isinstance(command, str):
        return ()
    path, recorded = script.get("path"), script.get("sha256")
    try:
        words = shlex.split(command)[1:]
    except ValueError:
        return ()
    if not isinstance(path, str) or not recorded or recorded != digest_of(path):
        return ()
    args = shlex.join(words[2:] if words[:1] == ["-m"] else words[1:])
    key = os.path.realpath(path), recorded, args
    return tuple(
        entry for entry in _latest(folder).values() if (entry.script, entry.sha256, entry.args) == key
    )


def _latest(folder: str) -> dict[tuple[str, ...], PoolEntry]:
    """The latest entry of each command on each script, the oldest first."""
    try:
        lines = files.tail(Path(folder) / _FOLDER / _FILE, _LARGEST).splitlines()
    except OSError:
        return {}
    latest: dict[tuple[str, ...], PoolEntry] = {}
    for entry in filter(None, map(_entry, lines)):
        key = (entry.script, entry.sha256, entry.args, entry.command)
        latest.pop(key, None)
        latest[key] = entry
    return latest


def digest_of(script: str) -> str:
    """The hash of a file as it is now; empty where it cannot be read."""
    try:
        return hashlib.sha256(files.read(script, _LARGEST_SCRIPT)).hexdigest()
    except OSError:
        return ""


def _entry(line: bytes) -> PoolEntry | None:
    with contextlib.suppress(ValueError, TypeError, KeyError, RecursionError):
        data = json_of(line)
        script, sha256, args, command = (
            _text(data[name]) for name in ("script", "sha256", "args", "command")
        )
        moment = float(data["time"])
        if math.isfinite(moment):
            findings = tuple(map(_finding, _listed(data.get("findings"))))
            trials = tuple(map(_trial, _listed(data.get("trials"))))
            experiments = tuple(map(_experiment, _listed(data.get("experiments"))))
            return PoolEntry(script, sha256, args, command, moment, findings, trials, experiments)
    return None


def _finding(data: Mapping[str, Any]) -> PooledFinding:
    if data["severity"] not in SEVERITIES:
        raise ValueError
    numbers = {
        _text(name): value if not isinstance(value, str) else _text(value)
        for name, value in list(dict(data.get("numbers") or {}).items())[:_MOST_NUMBERS]
        if isinstance(value, int | float | str) and not isinstance(value, bool)
    }
    id, text, symptom = (_text(data[name]) for name in ("id", "text", "symptom"))
    return PooledFinding(id, text, symptom, data["severity"], numbers, _text(data.get("cause", "")))


def _trial(data: Mapping[str, Any]) -> PooledTrial:
    remedy, change, verdict, text = (_text(data[name]) for name in ("remedy", "change", "verdict", "text"))
    knobs = tuple(map(_text, _listed(data.get("knobs"))))
    return PooledTrial(remedy, change, verdict, text, knobs)


def _experiment(data: Mapping[str, Any]) -> PooledExperiment:
    bits = {
        _text(cause): max(-_MOST_BITS, min(_MOST_BITS, float(value)))
        for cause, value in list(dict(data["bits"]).items())[:_MOST]
        if math.isfinite(float(value))
    }
    return PooledExperiment(_text(data["id"]), _text(data["text"]), bits)


def _listed(value: object) -> list[Any]:
    return value[:_MOST] if isinstance(value, list) else []


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value[:_LONGEST]


def _finite(value: Any) -> Any:
    """JSON that any program reads: what is not finite is a word."""
    if isinstance(value, dict):
        return {key: _finite(member) for key, member in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(member) for member in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _ago(seconds: float) -> str:
    for size, unit in ((86_400, "day"), (3_600, "hour"), (60, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count:,} {unit}{'s' if count != 1 else ''} ago"
    return "just now"
