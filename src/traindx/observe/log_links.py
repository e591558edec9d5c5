"""The log files that the program itself writes: their paths, so that they can be read with the recording.

Python reports every file that is opened. Only names that look like those of logs are kept. TensorFlow opens
its event files outside of Python: they are found at the end, by their names, which hold the process id.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from traindx.observe.files_read import FilesRead

_WRITES = os.O_WRONLY | os.O_RDWR
_MOST = 100
_ENDINGS = (".csv", ".jsonl", ".ndjson", ".json", ".log", ".txt")
_ALWAYS = re.compile(r"\.(?:csv|jsonl|ndjson|log)$|^events\.out\.tfevents\.", re.IGNORECASE)
_WANDB = re.compile(r".*[/\\]wandb[/\\](?:offline-)?run-\d{8}_\d{6}-\w+(?=[/\\])")
_FOLDERS, _ENTRIES, _DEPTH = 50, 5000, 5
_TELLING = re.compile(r"log|hist|metric|result|score|loss|trainer_state|progress|stats", re.IGNORECASE)


class Links:
    """Paths of logs in the order they were opened. An audit hook stays for good, so it can be shut."""

    def __init__(
        self, changed: Callable[[list[str]], None], ours: str, files_read: FilesRead | None = None
    ) -> None:
        self.paths: list[str] = []
        self._changed = changed
        self._files_read = files_read
        self._ours = os.path.join(os.path.abspath(ours), "")
        self._folders = [os.getcwd()]
        self._open = True

    def listen(self) -> None:
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in ("open", "os.mkdir") or not self._open:
            return
        try:
            if event == "os.mkdir":
                self._folder_made(args[0])
                return
            path, _, flags = args
            if type(path) not in (str, bytes):
                return
            if flags & _WRITES:
                self._opened(os.fsdecode(path))
            elif self._files_read is not None:
                self._files_read.read(os.fsdecode(path))
        except Exception:
            self._open = False

    def _opened(self, path: str) -> None:
        if self._files_read is not None:
            self._files_read.wrote(path)
        name = os.path.basename(path)
        if not name.lower().endswith(_ENDINGS) and ".tfevents." not in name:
            return
        if not (_ALWAYS.search(name) or _TELLING.search(name)):
            return
        full = os.path.abspath(path)
        run = _WANDB.match(full)
        self.add(run[0] if run else full)

    def _folder_made(self, path: object) -> None:
        if type(path) in (str, bytes) and len(self._folders) < _FOLDERS:
            self._folders.append(os.path.abspath(os.fsdecode(path)))  # type: ignore[arg-type]

    def add(self, path: str) -> None:
        """Keep a path once; the recording's own files are no links."""
        if path in self.paths or path.startswith(self._ours) or len(self.paths) >= _MOST:
            return
        self.paths.append(path)
        self._changed(list(self.paths))

    def close(self) -> None:
        """At the end: drop files that are gone, and add the folder of a W&B run that has not finished."""
        self._open = False
        wandb = sys.modules.get("wandb")
        folder = getattr(getattr(wandb, "run", None), "dir", None)
        if isinstance(folder, str):
            # `run.dir` holds the run's files; the log itself is next to it.
            self.add(os.path.dirname(os.path.abspath(folder)))
        if "tensorflow" in sys.modules:
            for path in event_files(self._folders, os.getpid()):
                self.add(path)
        existing_paths = [path for path in self.paths if os.path.exists(path)]
        if existing_paths != self.paths:
            self.paths[:] = existing_paths
            self._changed(existing_paths)


def event_files(folders: Iterable[str], pid: int) -> Iterator[str]:
    """TensorBoard's event files of a process in folders and below; hidden folders are passed over."""
    ours = re.compile(rf"^events\.out\.tfevents\.\d+\..*\.{pid}\.")
    entries = 0
    for start in dict.fromkeys(folders):
        for folder, inner, files in os.walk(start):
            yield from (os.path.join(folder, name) for name in sorted(files) if ours.match(name))
            entries += len(inner) + len(files)
            if entries > _ENTRIES:
                return
            deep = folder.count(os.sep) - start.count(os.sep) >= _DEPTH
            inner[:] = [] if deep else sorted(name for name in inner if not name.startswith("."))
