"""How a unit declares itself, and how units are found.

A reader is a module in `traindx.readers` that holds a `READER`; its docstring is its page.
A package elsewhere joins in through the entry-point group `traindx.readers`, whose value names
such a module.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from traindx.reading.log import Log
    from traindx.reading.source import File


@dataclass(frozen=True)
class Claim:
    """A reader's word that a file is its own.

    `run` is the path of the run the file belongs to: files of equal `run` are read together.
    `part` marks a file that only adds to a run (a configuration): alone it makes none.
    """

    run: str
    part: bool = False


@dataclass(frozen=True)
class Bundle:
    """The files of one run in one format, in natural order of their paths."""

    run: str
    files: tuple[File, ...]


@dataclass(frozen=True)
class Reader:
    """One log format. Lower `rank` is asked first: special formats before general ones."""

    id: str
    title: str
    rank: int
    claim: Callable[[File], Claim | None]
    read: Callable[[Bundle], Iterable[Log]]
    page: str = ""


def _modules(package: str) -> Iterator[ModuleType]:
    root = importlib.import_module(package)
    for info in pkgutil.iter_modules(root.__path__, package + "."):
        if not info.name.rsplit(".", 1)[1].startswith("_"):
            yield importlib.import_module(info.name)


def _plugins(group: str) -> Iterator[ModuleType]:
    if not _declared(group):
        return
    from importlib.metadata import entry_points

    for point in entry_points(group=group):
        try:
            yield importlib.import_module(point.value)
        except Exception as error:
            who = f"the plugin {point.name} ({point.value})"
            warnings.warn(f"{who} could not be loaded and is left out: {error}", stacklevel=2)


def _declared(group: str) -> bool:
    """Whether any installed package names the group: asked of the files, since the standard way to
    ask takes longer than reading a typical run."""
    mark = f"[{group}]".encode()
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                packages = [e.path for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for package in packages:
            try:
                with open(os.path.join(package, "entry_points.txt"), "rb") as file:
                    if mark in file.read():
                        return True
            except OSError:
                continue
    return False


@cache
def readers() -> tuple[Reader, ...]:
    """All readers, the ones to ask first in front."""
    found = []
    for source in (_modules("traindx.readers"), _plugins("traindx.readers")):
        for module in source:
            unit = getattr(module, "READER", None)
            if isinstance(unit, Reader):
                found.append(replace(unit, page=(module.__doc__ or "").strip()))
    return tuple(sorted(found, key=lambda unit: (unit.rank, unit.id)))
