"""Script -> findings of its source alone; the safe edits made."""

from __future__ import annotations

import os
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import NamedTemporaryFile

from traindx.core import files
from traindx.core.nouns import SEVERITIES, Check, Edit, Finding, Run, Skipped, Unreadable
from traindx.core.settings import Threshold, Thresholds
from traindx.core.units import Detector, detectors
from traindx.evidence.case import Case
from traindx.evidence.inputs import not_silenced, places
from traindx.source import Script, read_script
from traindx.source.edits import apart, edited, parses

_SKIPPED_FOLDERS = {"__pycache__", "node_modules", "venv", "site-packages", "build", "dist"}
_ROUNDS = 5


@dataclass(frozen=True)
class Linted:
    """A script and everything its source shows, the gravest first."""

    path: str
    script: Script
    findings: tuple[Finding, ...]
    checks: tuple[Check, ...] = ()

    @property
    def fixable(self) -> int:
        """How many findings have an edit that is safe to make."""
        return sum(bool(f.edits) and all(edit.grade == "safe" for edit in f.edits) for f in self.findings)

    @property
    def checked(self) -> bool:
        """Whether there was a training in it to check."""
        return bool(self.findings) or self.script.training.present

    @property
    def unchecked(self) -> tuple[Check, ...]:
        """What could not be checked, with what it would need."""
        return tuple(check for check in self.checks if check.status == "skipped" and check.needs)

    @property
    def calls_for_action(self) -> bool:
        return any(finding.symptom is not None and finding.severity != "low" for finding in self.findings)


def lint(path: str | os.PathLike[str], thresholds: Thresholds | None = None) -> Linted:
    """What a script's source shows; raises Unreadable with one line that says why."""
    script = read_script(path)
    case = Case(script_run(os.fspath(path)), script)
    findings: dict[tuple[object, ...], Finding] = {}
    checks: list[Check] = []
    for unit in detectors():
        if not _needs_only_a_script(unit):
            continue
        answer = _answer(unit, case, (thresholds or {}).get(unit.id, {}))
        if isinstance(answer, Skipped):
            checks.append(Check(unit.id, "skipped", needs=answer.needs or None))
            continue
        checks.append(Check(unit.id, "ran", seen=bool(answer)))
        for finding in answer:
            place = finding.places[0] if finding.places else None
            findings.setdefault((unit.id, place), replace(finding, id=unit.id, family=unit.family))
    ids = {finding.id for finding in findings.values()}
    explained = {id for unit in detectors() if unit.id in ids for id in unit.explains}
    unexplained = [finding for finding in findings.values() if finding.id not in explained]
    return Linted(os.fspath(path), script, tuple(sorted(unexplained, key=_order)), tuple(checks))


def _needs_only_a_script(unit: Detector) -> bool:
    return bool(unit.needs) and all("script" in need.split("|") for need in unit.needs)


def _order(finding: Finding) -> tuple[object, ...]:
    first = finding.places[0] if finding.places else None
    at = (first.file, first.line or 0) if first else ("", 0)
    return (finding.symptom is None, SEVERITIES.index(finding.severity), *at, finding.id)


def _answer(unit: Detector, case: Case, thresholds: Mapping[str, Threshold]) -> list[Finding] | Skipped:
    """Every place where a detector finds its fault; one that fails has not checked."""
    try:
        answer = places(unit, case, thresholds)
    except Exception as error:
        if os.environ.get("TRAINDX_DEBUG"):
            raise
        return Skipped(f"a fixed detector: it failed with {type(error).__name__}: {error}")
    return answer if isinstance(answer, Skipped) else not_silenced(unit, case, answer)


def script_run(path: str) -> Run:
    """A run of which nothing but its script is known."""
    return Run(name=path, path=path, formats=("script",), axis="step", series={}, files=(path,))


def fix(path: str | os.PathLike[str], thresholds: Thresholds | None = None) -> int:
    """Make the safe edits of a script, and of its modules; how many findings they fixed."""
    fixed = 0
    for _ in range(_ROUNDS):
        linted = lint(path, thresholds)
        safe = [f.edits for f in linted.findings if f.edits and all(e.grade == "safe" for e in f.edits)]
        chosen = apart(safe)
        if not chosen:
            break
        for file in dict.fromkeys(edit.file for edit in chosen):
            if not _write(file, [edit for edit in chosen if edit.file == file]):
                return fixed
        fixed += sum(set(group) <= set(chosen) for group in safe)
    return fixed


def _write(file: str, edits: Sequence[Edit]) -> bool:
    """Put the edited file in the place of the old one; whether that was done."""
    path = Path(file)
    raw = files.read(path)
    encoding, _ = tokenize.detect_encoding(iter(raw.splitlines(keepends=True)).__next__)
    old = raw.decode(encoding)
    new = edited(old, edits)
    if new == old or not parses(new):
        return False
    with NamedTemporaryFile("wb", dir=path.resolve().parent, delete=False) as scratch:
        scratch.write(new.encode(encoding))
    try:
        os.chmod(scratch.name, path.stat().st_mode)
        os.replace(scratch.name, path.resolve())
    except OSError:
        with suppress(OSError):
            os.unlink(scratch.name)
        raise
    return True


def scripts_of(paths: Sequence[str]) -> Iterator[tuple[str, bool]]:
    """The Python files of the given paths, and whether the user named the file itself."""
    for path in paths:
        if not os.path.isdir(path):
            yield path, True
            continue
        for folder, below, names in os.walk(path):
            below[:] = sorted(d for d in below if d not in _SKIPPED_FOLDERS and not d.startswith("."))
            yield from ((os.path.join(folder, name), False) for name in sorted(names) if name.endswith(".py"))


def lint_all(
    paths: Sequence[str], thresholds: Thresholds | None = None
) -> tuple[list[Linted], list[tuple[str, str]]]:
    """Every script of the paths; what a folder holds that cannot be read, with the reason."""
    linted, unread = [], []
    for path, explicit in scripts_of(paths):
        try:
            linted.append(lint(path, thresholds))
        except Unreadable as error:
            if explicit:
                raise
            unread.append((path, str(error)))
    return linted, unread
