"""The data files that the program itself reads: path, size, the line of its code that opened each, how often.

Python reports every file that is opened; only names that look like those of data, statistics, settings or
checkpoints are kept, and nothing below the folders of Python and its packages.
"""

from __future__ import annotations

import os
import sys
import sysconfig
from collections.abc import Callable
from types import FrameType
from typing import Any

_TABLES = (
    ".csv", ".tsv", ".jsonl", ".ndjson", ".parquet", ".arrow", ".npz", ".npy", ".txt", ".json", ".yaml",
    ".yml", ".pt", ".pth", ".ckpt", ".safetensors", ".h5", ".keras",
)  # fmt: skip
_IMAGES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".webp", ".pgm", ".ppm")
_ENDINGS = (*_TABLES, *_IMAGES)
_OFTEN = 8
_MOST, _MOST_OF_A_FOLDER, _DEEPEST = 200, 12, 60
_ELSEWHERE = ("/proc/", "/sys/", "/dev/", "/etc/", "/usr/")


class FilesRead:
    """Files in the order they were opened; of a folder with many, the folder and how many."""

    def __init__(self, changed: Callable[[list[dict[str, object]]], None], ours: str) -> None:
        self._changed = changed
        places = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values()}
        places.add(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        self._not_its = tuple(os.path.join(os.path.realpath(place), "") for place in places)
        self._ours = os.path.join(os.path.abspath(ours), "")
        self._seen_paths: set[str] = set()
        self._folders: dict[tuple[str, bool], dict[str, object]] = {}
        self._count: dict[tuple[str, bool], int] = {}
        self._written_paths: set[str] = set()
        self._opened: dict[str, int] = {}
        self._entries: dict[str, dict[str, object]] = {}
        self.files: list[dict[str, object]] = []

    def wrote(self, path: str) -> None:
        """What the program writes itself is no data that it was given."""
        if path.lower().endswith(_TABLES) and len(self._written_paths) < 10 * _MOST:
            self._written_paths.add(os.path.abspath(path))

    def read(self, path: str) -> None:
        if path in self._seen_paths:
            self._again(path)
            return
        if not path.lower().endswith(_ENDINGS):
            return
        if len(self._seen_paths) < 50 * _MOST:
            self._seen_paths.add(path)
        full = os.path.abspath(path)
        if (
            full in self._written_paths
            or full.startswith((self._ours, *_ELSEWHERE))
            or self._is_library(full)
        ):
            return
        key = (os.path.dirname(full), full.lower().endswith(_IMAGES))
        self._count[key] = self._count.get(key, 0) + 1
        if self._count[key] > _MOST_OF_A_FOLDER and key in self._folders:
            self._folders[key]["files"] = self._count[key]
            return
        line = self._line()
        if line is None or len(self.files) >= _MOST:
            return
        if key[1]:
            entry = self._folders.setdefault(key, {"path": key[0], "files": 0, "line": line, "images": True})
            entry["files"] = self._count[key]
            if entry not in self.files:
                self.files.append(entry)
        else:
            entry = {"path": full, "line": line, **_size(full)}
            self._folders[key] = self._entries[path] = entry
            self.files.append(entry)
        self._changed([dict(entry) for entry in self.files])

    def _again(self, path: str) -> None:
        """Count how often a file is opened; reported at each doubling."""
        times = self._opened[path] = self._opened.get(path, 1) + 1
        if times >= _OFTEN and times & (times - 1) == 0 and path in self._entries:
            self._entries[path]["opened"] = times
            self._changed([dict(entry) for entry in self.files])

    def _is_library(self, path: str) -> bool:
        return path.startswith(self._not_its) or "-packages" + os.sep in path

    def _line(self) -> str | None:
        """The innermost line of the program's own code; None where it is a library's own doing."""
        frame: FrameType | None = sys._getframe(2)
        for _ in range(_DEEPEST):
            if frame is None:
                return None
            name = frame.f_code.co_filename
            if not name.startswith("<"):
                full = os.path.abspath(name)
                if not self._is_library(full) and not self._is_library(os.path.realpath(full)):
                    return f"{full}:{frame.f_lineno}"
            frame = frame.f_back
        return None


def _size(path: str) -> dict[str, Any]:
    try:
        facts = os.stat(path)
    except OSError:
        return {}
    return {"size": facts.st_size, "modified": round(facts.st_mtime, 3)}
