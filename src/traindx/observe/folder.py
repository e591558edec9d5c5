"""Where the recording goes: a folder of its own, the same one for all processes of a training."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import re
import stat
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from traindx.core import files
from traindx.core.documents import json_of
from traindx.observe.launcher_rank import LaunchedRank

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None  # type: ignore[assignment]

HOME = ".traindx"
_UNFIT = re.compile(r"[^\w.=+-]+")
_MARK = ".ranks-"


class Taken(Exception):
    """The folder asked for holds a recording already; the message is one line for the user."""


@dataclass(frozen=True)
class Folder:
    """`trouble` says why it is not where it should be."""

    path: Path
    trouble: str = ""


def choose(out: str | None, stem: str, place: LaunchedRank) -> Folder:
    """The folder, made. Where the wished place cannot be written, one for temporary files serves."""
    name = f"{_fit(stem)}-{time.strftime('%Y%m%d-%H%M%S')}"
    if place.node:
        name += f"-node{place.node}"
    try:
        return Folder(_choose(Path(out).absolute() if out else None, Path(HOME).absolute(), name, place))
    except OSError as error:
        wished, why = out or HOME, (error.strerror or type(error).__name__).lower()
    return Folder(_choose(None, _own_temporary(), name, place), f"{wished} cannot be written ({why})")


def _own_temporary() -> Path:
    """A folder for temporary files that all processes of this user know, and nobody else can write."""
    if not hasattr(os, "getuid"):
        return Path(tempfile.mkdtemp(prefix="traindx-"))
    folder = Path(tempfile.gettempdir()) / f"traindx-{os.getuid()}"
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    ours = stat.S_ISDIR(facts.st_mode) and facts.st_uid == os.getuid() and not facts.st_mode & 0o022
    return folder if ours else Path(tempfile.mkdtemp(prefix="traindx-"))


def is_recording(folder: Path) -> bool:
    return (folder / "run.json").exists() or any(folder.glob("rank-*.jsonl"))


def _fit(stem: str) -> str:
    return _UNFIT.sub("-", stem).strip("-.")[:60] or "run"


def _choose(out: Path | None, home: Path, name: str, place: LaunchedRank) -> Path:
    if out is None:
        home.mkdir(parents=True, exist_ok=True)
        ignore = home / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n", encoding="utf-8")
    if not place.key:
        return _asked_for(out) if out else _new(home / name)
    with _agreement(out or home, place) as agreed:
        # A rank that has been here before belongs to the next start of the training.
        if agreed.get("out") != (str(out) if out else None) or place.rank in agreed.get(
            "ranks", [place.rank]
        ):
            again = place.restart > 0
            folder = _new(home / name) if out is None else _new(out) if again else _asked_for(out)
            agreed.clear()
            agreed.update(out=str(out) if out else None, folder=str(folder), ranks=[])
        agreed["ranks"].append(place.rank)
        return Path(agreed["folder"])


def _asked_for(out: Path) -> Path:
    if is_recording(out):
        raise Taken(f"{out} holds a recording already. Give --out another folder, or none.")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryFile(dir=out):
        return out


def _new(wished: Path) -> Path:
    """The folder, or the first of `-2`, `-3`, ... that nobody has."""
    wished.parent.mkdir(parents=True, exist_ok=True)
    for number in range(1, 10_000):
        folder = wished if number == 1 else wished.with_name(f"{wished.name}-{number}")
        try:
            folder.mkdir()
        except FileExistsError:
            continue
        return folder
    raise FileExistsError(f"{wished} and all its numbers are taken")


@contextlib.contextmanager
def _agreement(home: Path, place: LaunchedRank) -> Iterator[dict[str, Any]]:
    """The agreement of the processes of one launcher, locked by one of them at a time."""
    home.mkdir(parents=True, exist_ok=True)
    host = _UNFIT.sub("-", platform.node())
    if fcntl is not None:
        _forget_old(home, host)
    with open(home / f"{_MARK}{host}-{place.key}", "a+", encoding="utf-8") as file:
        files.refuse_others(os.fstat(file.fileno()), file.name)
        if fcntl is not None:
            with contextlib.suppress(OSError):
                fcntl.flock(file, fcntl.LOCK_EX)
        file.seek(0)
        try:
            agreed = json_of(file.read(files.LIMIT))
        except ValueError:
            agreed = {}
        yield agreed if isinstance(agreed, dict) else {}
        file.seek(0)
        file.truncate()
        json.dump(agreed, file)
        file.flush()


def _forget_old(home: Path, host: str) -> None:
    """Agreements of launchers that are gone."""
    for mark in home.glob(f"{_MARK}{host}-*"):
        pid = mark.name.removeprefix(f"{_MARK}{host}-").partition("-")[0]
        with contextlib.suppress(OSError, ValueError):
            try:
                os.kill(int(pid), 0)
            except ProcessLookupError:
                mark.unlink()
