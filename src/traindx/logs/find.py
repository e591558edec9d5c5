"""From paths to runs: walk, ask the readers, read the files of a run together, count copies once."""

from __future__ import annotations

import os
import sqlite3
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np

from traindx.core.nouns import CRASHES, Note, Reading, Run, Unreadable
from traindx.core.units import Bundle, Claim, Reader, readers
from traindx.logs.assemble import run_from_log
from traindx.logs.copies import begins, without_copies
from traindx.logs.derived import with_loss
from traindx.logs.log_file import File, natural, pipe_file, reason, stdin_file
from traindx.logs.phases import phases_of

_SKIP_FOLDERS = frozenset(
    ".git __pycache__ node_modules .venv venv .tox .mypy_cache .ipynb_checkpoints".split()
)
_NOISE_NAMES = frozenset(
    "debug.log debug-internal.log debug-core.log requirements.txt conda-environment.yaml".split()
)
# What traindx keeps beside recordings.
_OWN_FILES = frozenset({"casebook.jsonl", "evidence.jsonl"})
_LFS = b"version https://git-lfs"
_ENTRIES_MOST = 100_000
_TOO_MANY = (
    f"it holds more than {_ENTRIES_MOST:,} files and folders: only as many were searched; name the folder "
    "of the run you mean"
)
_HEADS_KEPT = 500


def find_runs(paths: Sequence[str], *, mapping: Mapping[str, str] | None = None) -> Reading:
    """Every run below the given paths ('-' is standard input)."""
    skipped: list[Note] = []
    runs_by_format: dict[str, dict[str, list[Run]]] = {}
    with np.errstate(all="ignore"):
        for path in {p if p in ("-", "") else os.path.realpath(p): p for p in paths}.values():
            files, explicit = _files(path, skipped)
            for reader, bundle in _bundles(files, skipped, explicit=explicit):
                runs = _read(reader, bundle, skipped, mapping)
                runs_by_format.setdefault(os.path.abspath(bundle.run), {})[reader.id] = runs
        merged_runs = [
            runs for formats in runs_by_format.values() for runs in _merged(list(formats.values()))
        ]
        runs = [with_loss(run, mapping or {}) for run in without_copies(merged_runs)]
        return Reading(tuple(runs), tuple(skipped))


def _files(path: str, skipped: list[Note]) -> tuple[Iterable[File], bool]:
    """The files of one path, and whether the user named the file itself."""
    try:
        if path == "-":
            return [stdin_file()], True
        if not path:
            skipped.append(Note(path, "the path is empty"))
            return [], True
        mode = os.stat(path).st_mode
        if stat.S_ISDIR(mode):
            return _walk(path, skipped), False
        if stat.S_ISFIFO(mode):
            return [pipe_file(Path(path))], True
        if _kept_by_traindx(path):
            skipped.append(Note(path, "what traindx keeps about the project, no log of a training"))
            return [], True
        if stat.S_ISREG(mode):
            return [File(Path(path), path)], True
        skipped.append(Note(path, "not a regular file"))
    except OSError as error:
        skipped.append(Note(path, reason(error)))
    except Unreadable as error:
        skipped.append(Note(path, str(error)))
    return [], True


def _walk(root: str, skipped: list[Note]) -> Iterator[File]:
    """The files below a folder, each once however many links lead to it."""
    visited: set[tuple[int, int]] = set()
    waiting, entries_left = [root], _ENTRIES_MOST
    while waiting:
        folder = waiting.pop()
        try:
            folder_stat = os.stat(folder)
            if (folder_stat.st_dev, folder_stat.st_ino) in visited:
                continue
            visited.add((folder_stat.st_dev, folder_stat.st_ino))
            with os.scandir(folder) as scanner:
                entries = sorted(islice(scanner, entries_left + 1), key=lambda entry: natural(entry.name))
        except OSError as error:
            skipped.append(Note(str(Path(folder)), reason(error)))
            continue
        if len(entries) > entries_left:
            skipped.append(Note(root, _TOO_MANY))
            entries, waiting = entries[:entries_left], []
        entries_left -= len(entries)
        below = []
        for entry in entries:
            try:
                if entry.is_dir():
                    below += [entry.path] if entry.name not in _SKIP_FOLDERS else []
                elif _new_file(entry, visited):
                    yield File(Path(entry.path))
            except FileNotFoundError:
                continue
            except OSError as error:
                skipped.append(Note(entry.path, reason(error)))
        waiting += reversed(below)


def _kept_by_traindx(path: str) -> bool:
    return os.path.basename(path) in _OWN_FILES and Path(os.path.abspath(path)).parent.name == ".traindx"


def _new_file(entry: os.DirEntry[str], visited: set[tuple[int, int]]) -> bool:
    """Whether it is a regular file, and not a link to one that another link has led to."""
    if _kept_by_traindx(entry.path):
        return False
    if not entry.is_symlink():
        return entry.is_file()
    real = entry.stat()
    if not stat.S_ISREG(real.st_mode) or (real.st_dev, real.st_ino) in visited:
        return False
    visited.add((real.st_dev, real.st_ino))
    return True


def _bundles(files: Iterable[File], skipped: list[Note], *, explicit: bool) -> list[tuple[Reader, Bundle]]:
    groups: dict[tuple[str, str], list[tuple[File, Claim]]] = {}
    units = {unit.id: unit for unit in readers()}
    claimed = 0
    for file in files:
        try:
            why = _noise(file, explicit=explicit)
            claimed_by = None if why else _claim(file, explicit=explicit)
        except Exception as error:
            skipped.append(Note(file.shown, _error_line(error, "the search", [file])))
            continue
        if why:
            skipped.append(Note(file.shown, why))
        elif claimed_by is None:
            if explicit:
                skipped.append(
                    Note(file.shown, "no reader knows this format; docs/formats.md lists those that are read")
                )
        else:
            reader, claim = claimed_by
            groups.setdefault((claim.run, reader.id), []).append((file, claim))
            claimed += 1
            if claimed > _HEADS_KEPT:
                file.forget()
    bundles = []
    for (run, unit), members in groups.items():
        if all(claim.part for _, claim in members):
            if explicit:
                skipped.append(
                    Note(
                        members[0][0].shown,
                        "it is a configuration without metrics: name the file or folder of the log",
                    )
                )
            continue
        ordered = tuple(sorted((f for f, _ in members), key=lambda f: natural(f.shown)))
        bundles.append((units[unit], Bundle(run, ordered)))
    return bundles


def _noise(file: File, *, explicit: bool) -> str | None:
    """Why a file is not worth reading, or None."""
    if file.size == 0:
        return "empty file"
    if file.head.startswith(_LFS):
        return "a Git LFS pointer, not the file itself; fetch it with `git lfs pull`"
    if not explicit and file.name.lower() in _NOISE_NAMES:
        return "a log of the logger itself, not of the training"
    return None


def _claim(file: File, *, explicit: bool) -> tuple[Reader, Claim] | None:
    for reader in readers():
        claim = reader.claim(file)
        if claim is not None:
            return reader, claim
    if explicit and b"\0" not in file.head[:4096]:
        return readers()[-1], Claim(file.shown)
    return None


def _read(
    reader: Reader, bundle: Bundle, skipped: list[Note], mapping: Mapping[str, str] | None
) -> list[Run]:
    try:
        logs = list(reader.read(bundle))
    except Exception as error:
        logs = []
        skipped.append(Note(bundle.run, _error_line(error, f"the {reader.id} reader", bundle.files)))
    path = bundle.run if bundle.run not in (".", "") else bundle.files[0].shown
    notes = [note for file in bundle.files for note in file.notes]
    runs = []
    for log, phase in zip(logs, phases_of(logs), strict=True):
        part = log.name or (phase.title if phase is not None else "")
        run = run_from_log(
            log,
            name=f"{path} ({part})" if part else path,
            path=path,
            format=reader.id,
            files=[file.shown for file in bundle.files],
            notes=notes,
            mapping=mapping,
        )
        if run.series or any(event.kind in CRASHES for event in run.events):
            runs.append(replace(run, phase=phase))
        else:
            skipped.extend(run.notes or [Note(path, f"{reader.title}: it has no metric")])
    if not logs:
        skipped.extend(notes)
    return runs


def _error_line(error: Exception, reader: str, files: Sequence[File]) -> str:
    """One line for the user; an unforeseen error is raised when TRAINDX_DEBUG is set."""
    if isinstance(error, Unreadable):
        return str(error)
    if isinstance(error, OSError):
        return reason(error)
    if isinstance(error, MemoryError | SystemError):  # the latter from orjson
        return "there is not enough memory to read it"
    if isinstance(error, RecursionError | sqlite3.Error):
        return f"{reader} gave up: {error or type(error).__name__}"
    if any(file.changed for file in files):
        return "it was changed while it was read; read it again"
    if os.environ.get("TRAINDX_DEBUG"):
        raise error
    return f"{reader} failed ({type(error).__name__}: {error}); please report it"


def _merged(formats: list[list[Run]]) -> list[list[Run]]:
    """The runs that several formats read from one run folder, as one run where they use one axis."""
    whole = [runs for runs in formats if len(runs) == 1]
    apart = [runs for runs in formats if len(runs) > 1]
    while len(whole) > 1 and _count_alike(whole[0][0], whole[-1][0]):
        second = whole.pop()[0]
        whole[0] = [_join(whole[0][0], second)]
    for runs in whole[1:]:
        runs[0] = replace(runs[0], name=f"{runs[0].name} ({runs[0].format})")
    return whole + apart


def _count_alike(first: Run, second: Run) -> bool:
    """Whether two formats of a run use one axis: they say so, or the series of both have equal steps."""
    shared = [(s, second.series[n]) for n, s in first.series.items() if n in second.series]
    if not shared:
        return first.axis == second.axis
    return all(np.isin(x.steps, y.steps).mean() > 0.5 for x, y in shared if len(x) and len(y))


def _join(first: Run, second: Run) -> Run:
    """Two formats of one run: the second adds the series that the first does not have."""
    series = {**first.series, **{n: s for n, s in second.series.items() if n not in first.series}}
    differ = [n for n, s in second.series.items() if n in first.series and not begins(s, first.series[n])]
    notes = first.notes + second.notes
    if differ:
        listed = ", ".join(differ[:3]) + (", ..." if len(differ) > 3 else "")
        notes += (
            Note(first.path, f"{second.format} has other points of {listed}; {first.format}'s are shown"),
        )
    return replace(
        first,
        formats=first.formats + second.formats,
        series=series,
        config={**second.config, **first.config},
        settings={**second.settings, **first.settings},
        events=first.events + tuple(e for e in second.events if e not in first.events),
        traits=first.traits | second.traits,
        notes=notes,
        files=tuple(dict.fromkeys(first.files + second.files)),
    )
