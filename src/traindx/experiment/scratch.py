"""A copy of what a training needs, made once and given to every arm: the user's own folder stays as it is.

Small files are copied; large ones, large folders and their siblings are links, which the arm's guard
makes real when something is written there. Below `root` the copy repeats the paths of the machine, so that
`../data` leads where it led.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from traindx.experiment.sandbox.overlay import CLAIMS, claim_line, within

_LARGE = 1 << 20
_MOST_BYTES = 64 << 20
_MOST_FILES = 4000
_CROWDED = 2000
_LEFT_OUT = {"__pycache__", ".traindx", ".ipynb_checkpoints", ".mypy_cache", ".pytest_cache", ".ruff_cache"}
_LINKED = {".venv", "venv", "env", ".tox", "node_modules", ".hg", ".svn"}
# Loggers add runs to those that are there, some of them (TensorBoard with TensorFlow) past Python's files.
_ADDED_TO = {"wandb", "mlruns", "lightning_logs"}
_NOT_OF_GIT = {"lfs", "modules", "annex", "worktrees"}
_SMALL_REPOSITORY = 16 << 20
_SIBLINGS = 2

Kind = Literal["folder", "file", "link", "git"]


@dataclass(frozen=True)
class CopiedItem:
    """One thing of the copy: `path` is the user's; a link leads to `target`."""

    kind: Kind
    path: str
    target: str = ""


class Snapshot:
    """The folders as they are now. What the user changes later does not reach the arms."""

    def __init__(self, store: Path, folders: Sequence[str]) -> None:
        self.folders = tuple(_outermost(os.path.realpath(folder) for folder in folders))
        self._store = store
        self._entries: list[CopiedItem] = []
        self._files = self._bytes = 0
        for folder in self.folders:
            self._take(folder)

    def _take(self, top: str) -> None:
        """Breadth first: what is deep and too much becomes a link."""
        self._entries.append(CopiedItem("folder", top))
        shallow = top in (os.sep, os.path.realpath(os.path.expanduser("~")))
        waiting = [top]
        for folder in waiting:
            try:
                with os.scandir(folder) as listing:
                    entries = sorted(listing, key=lambda entry: entry.name)
            except OSError:
                continue
            for entry in entries if top != os.sep else ():
                if entry.name in _LEFT_OUT:
                    continue
                item = self._entry(entry, shallow)
                self._entries.append(item)
                if item.kind == "folder":
                    waiting.append(entry.path)

    def _entry(self, entry: os.DirEntry[str], shallow: bool) -> CopiedItem:
        link = CopiedItem("link", entry.path, entry.path)
        with contextlib.suppress(OSError):
            if entry.is_symlink():
                return CopiedItem("link", entry.path, self._link_target(entry.path))
            if entry.is_dir():
                if entry.name == ".git" and not shallow:
                    return CopiedItem("git", entry.path)
                of_logger = os.path.basename(os.path.dirname(entry.path)) in _ADDED_TO
                as_link = shallow or of_logger or entry.name in _LINKED or self._crowded(entry.path)
                return link if as_link else CopiedItem("folder", entry.path)
            facts = entry.stat()
            if not stat.S_ISREG(facts.st_mode) or not self._room(facts.st_size):
                return link
            if shallow and not entry.name.endswith((".py", ".toml", ".yaml", ".yml", ".json")):
                return link
            self._keep(entry.path)
            self._files += 1
            self._bytes += facts.st_size
            return CopiedItem("file", entry.path)
        return link

    def _link_target(self, path: str) -> str:
        """Where a link of the user's leads: into a copied folder, then to the same place in the copy."""
        real = os.path.realpath(path)
        if any(within(real, folder) for folder in self.folders):
            return "root:" + real
        return real

    def _room(self, size: int) -> bool:
        return size <= _LARGE and self._files < _MOST_FILES and self._bytes + size <= _MOST_BYTES

    def _crowded(self, folder: str) -> bool:
        if self._files >= _MOST_FILES:
            return True
        with os.scandir(folder) as listing:
            return sum(1 for _ in listing) > _CROWDED

    def _keep(self, path: str) -> None:
        copy = self._store / path.lstrip(os.sep)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, copy)

    def copy(
        self, scratch: Path, sources: Mapping[str, str], replaced: Mapping[str, str] | None = None
    ) -> None:
        """The copy of an arm, with edited sources, and the content of other files, in place of the user's."""
        root = scratch / "root"
        root.mkdir(parents=True)
        claims = [claim_line("whole", folder) for folder in self.folders if folder != os.sep]
        for folder in self.folders:
            _link_siblings(root, folder)
        for entry in self._entries:
            self._make(entry, root, f"{root}{entry.path}")
        for path, text in sources.items():
            from traindx.experiment.edit import encoded

            self._free(root, os.path.realpath(path)).write_bytes(encoded(path, text))
        for path, replacement in (replaced or {}).items():
            target = self._free(root, os.path.realpath(path))
            if replacement:
                shutil.copyfile(replacement, target)
        (scratch / CLAIMS).write_bytes(b"".join(claims))

    def _free(self, root: Path, path: str) -> Path:
        """A place in the copy where nothing is any more."""
        target = Path(f"{root}{path}")
        if any(within(path, folder) for folder in self.folders):
            with contextlib.suppress(FileExistsError, NotADirectoryError):
                target.parent.mkdir(parents=True, exist_ok=True)
        if not target.parent.is_dir() or not within(os.path.realpath(target.parent), str(root)):
            raise ValueError(
                f"{path} is outside the folders that are copied for a trial: it cannot be edited."
            )
        target.unlink(missing_ok=True)
        return target

    def _make(self, entry: CopiedItem, root: Path, target: str) -> None:
        with contextlib.suppress(FileExistsError):
            if entry.kind == "folder":
                if os.path.islink(target):
                    os.unlink(target)
                os.makedirs(target, exist_ok=True)
            elif entry.kind == "file":
                shutil.copy2(self._store / entry.path.lstrip(os.sep), target)
            elif entry.kind == "git":
                _git(entry.path, target)
            else:
                os.symlink(entry.target.replace("root:", str(root), 1), target)


def _outermost(folders: Iterator[str]) -> Iterator[str]:
    """Without those that lie in another."""
    every = list(dict.fromkeys(folders))
    for folder in every:
        if not any(other not in (folder, os.sep) and within(folder, other) for other in every):
            yield folder


def _link_siblings(root: Path, folder: str) -> None:
    """Links to the siblings of the folder and of its parent: `../data` is often read."""
    os.makedirs(f"{root}{folder}", exist_ok=True)
    for _ in range(_SIBLINGS):
        folder = os.path.dirname(folder)
        if folder == os.path.dirname(folder):
            return
        with contextlib.suppress(OSError):
            names = os.listdir(folder)
            for name in names if len(names) <= _CROWDED else ():
                with contextlib.suppress(FileExistsError):
                    os.symlink(os.path.join(folder, name), os.path.join(f"{root}{folder}", name))


def _git(original: str, copy: str) -> None:
    """A repository of its own; a large one shares the user's objects, and keeps new ones to itself."""
    objects = os.path.join(original, "objects")
    shares = not _small(objects)
    os.makedirs(copy)
    if shares:
        os.makedirs(os.path.join(copy, "objects", "info"))
        with open(os.path.join(copy, "objects", "info", "alternates"), "w", encoding="utf-8") as file:
            file.write(f"{objects}\n")
    for entry in os.scandir(original):
        target = os.path.join(copy, entry.name)
        with contextlib.suppress(OSError, shutil.Error):
            if entry.name in _NOT_OF_GIT or (shares and entry.name == "objects"):
                continue
            if entry.is_dir():
                shutil.copytree(entry.path, target, symlinks=True)
            elif entry.is_file():
                shutil.copy2(entry.path, target)


def _small(folder: str) -> bool:
    files = size = 0
    for parent, _, names in os.walk(folder):
        files += len(names)
        with contextlib.suppress(OSError):
            size += sum(os.lstat(os.path.join(parent, name)).st_size for name in names)
        if files > _CROWDED or size > _SMALL_REPOSITORY:
            return False
    return True
