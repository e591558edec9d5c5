"""How a unit declares itself, and how units are found.

A reader is a module in `traindx.logs.formats` that holds a `READER`; a detector one below
`traindx.evidence.detectors` that holds a `DETECTOR` and a function `detect`. A module's docstring is its
page. Detectors that are kin stand in one module, each a function under `@Detector(...)`: its name is the id
of the finding, its docstring the page.
A package elsewhere joins in through the entry-point groups `traindx.readers` and `traindx.detectors`,
whose values name such modules.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
import re
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from inspect import cleandoc
from types import ModuleType
from typing import TYPE_CHECKING

from traindx.core import files

if TYPE_CHECKING:
    from traindx.core.nouns import Finding, Skipped
    from traindx.logs.log import Log
    from traindx.logs.log_file import File

_LARGEST = 1 << 20
Detect = Callable[..., "Finding | Skipped | Iterable[Finding] | None"]


@dataclass(frozen=True)
class Example:
    """What a detector must see something in, or must not: a run, a case or a script."""

    detector: str
    fires: bool
    seen: object


@dataclass(frozen=True)
class Claim:
    """A reader's claim to a file.

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
    """One log format. Readers of lower `rank` are asked first: special formats before general ones."""

    id: str
    title: str
    rank: int
    claim: Callable[[File], Claim | None]
    read: Callable[[Bundle], Iterable[Log]]
    page: str = ""


@dataclass(frozen=True)
class Detector:
    """One check. The module's name is the finding's id, or the name of the function below it.

    `detect` names its inputs as parameters (`traindx.evidence.inputs` lists them) and its thresholds as
    keyword-only parameters; None means checked, not found. `needs` are what a signature cannot say:
    `setting:` and a name, `fact:` and a name, `layer/*`; `a|b` is either. `guards` are the kinds of
    training it does not apply to. Findings of one `family` describe one event: inference counts them once.
    `speaks_for` is for detectors of plugins: cause -> bits when found, bits when checked and not found. Those
    of built-in ones are rows in the pages of the causes. A finding withdraws those it `explains`: a loss that
    is summed up, never reset, does not diverge. About causes it has no rows for it says what the finding says
    that it `counts_as`: another view of the same thing. `harms` names what a finding must have done to the
    training to be of the severity it has (`traindx.evidence.harm` lists the kinds); without that it is low.
    What is read in the source is withdrawn where a detector it is `measured_by` looked and found nothing.
    """

    title: str
    needs: tuple[str, ...] = ()
    family: str = ""
    explains: tuple[str, ...] = ()
    speaks_for: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    guards: tuple[str, ...] = ()
    counts_as: str = ""
    harms: str = ""
    measured_by: str = ""
    id: str = ""
    area: str = ""
    page: str = ""
    detect: Detect = lambda _: None
    module: str = ""

    def __call__(self, detect: Detect) -> Detector:
        """The whole detector: the name of the function is its id, the docstring its page."""
        page = cleandoc(detect.__doc__ or "")
        return replace(self, id=detect.__name__, page=page, detect=detect, module=detect.__module__)

    def fires(self, *seen: object) -> Iterator[Example]:
        """Runs (or cases, or scripts) on which it must find its thing."""
        return (Example(self.id, True, example) for example in seen)

    def silent(self, *seen: object) -> Iterator[Example]:
        """Runs (or cases, or scripts) on which it must not."""
        return (Example(self.id, False, example) for example in seen)

    @property
    def from_settings(self) -> bool:
        """Whether the configuration is enough for it, whatever became of the training."""
        return bool(self.needs) and all("setting:" in need for need in self.needs)


def _modules(package: str) -> Iterator[ModuleType]:
    """The modules below a package, those in its folders too; names with an underscore are private."""
    root = importlib.import_module(package)
    for info in pkgutil.iter_modules(root.__path__, package + "."):
        if info.name.rsplit(".", 1)[1].startswith("_"):
            continue
        if info.ispkg:
            yield from _modules(info.name)
        else:
            yield importlib.import_module(info.name)


def _plugins(group: str) -> Iterator[ModuleType]:
    for name, module in _declared(group).items():
        try:
            yield importlib.import_module(module)
        except Exception as error:
            plugin = f"the plugin {name} ({module})"
            warnings.warn(f"{plugin} could not be loaded and is ignored: {error}", stacklevel=2)


def _declared(group: str) -> dict[str, str]:
    """Name -> module of the group's entry points in all installed packages: asked of the files, since the
    standard way to ask takes longer than reading a typical run, and waits at a pipe."""
    modules: dict[str, str] = {}
    for folder in sys.path:
        try:
            with os.scandir(folder or ".") as entries:
                packages = [e.path for e in entries if e.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for package in packages:
            try:
                text = files.read(os.path.join(package, "entry_points.txt"), _LARGEST)
            except OSError:
                continue
            if f"[{group}]".encode() in text:
                modules = {**dict(_points(text.decode("utf-8", "replace"), group)), **modules}
    return modules


def _points(text: str, group: str) -> Iterator[tuple[str, str]]:
    section = ""
    for line in text.splitlines():
        name, equals, module = (part.strip() for part in line.partition("="))
        if name.startswith("["):
            section = name
        elif equals and section == f"[{group}]" and not name.startswith(("#", ";")):
            yield name, module


def _all_modules(package: str, group: str) -> Iterator[ModuleType]:
    yield from _modules(package)
    yield from _plugins(group)


@cache
def readers() -> tuple[Reader, ...]:
    """All readers, the ones to ask first in front."""
    units = []
    for module in _all_modules("traindx.logs.formats", "traindx.readers"):
        unit = getattr(module, "READER", None)
        if isinstance(unit, Reader):
            units.append(replace(unit, page=(module.__doc__ or "").strip()))
    return tuple(sorted(units, key=lambda unit: (unit.rank, unit.id)))


@cache
def detectors() -> tuple[Detector, ...]:
    """All detectors, ordered by area and id."""
    units = []
    needs = importlib.import_module("traindx.evidence.inputs").needs
    for module in _all_modules("traindx.evidence.detectors", "traindx.detectors"):
        area = module.__name__.rpartition(".")[0].rpartition(".")[2]
        for unit in _units_of(module):
            page = _filled(unit.page, unit.detect.__kwdefaults__ or {})
            units.append(replace(unit, area=area, page=page, needs=needs(unit)))
    return tuple(sorted(units, key=lambda unit: (unit.area, unit.id)))


def _units_of(module: ModuleType) -> Iterator[Detector]:
    """The detectors of a module: its `DETECTOR`, or every one that stands in it, alone or in a tuple."""
    single = getattr(module, "DETECTOR", None)
    if isinstance(single, Detector):
        page, id = (module.__doc__ or "").strip(), module.__name__.rpartition(".")[2]
        yield replace(single, id=id, page=page, detect=module.detect, module=module.__name__)
    for value in vars(module).values():
        for unit in value if isinstance(value, tuple) else (value,):
            if isinstance(unit, Detector) and unit.module == module.__name__:
                yield unit


def _filled(page: str, thresholds: Mapping[str, object]) -> str:
    """A page with the detector's own thresholds in their places: `{share}` is 0.05, `{share:%}` is 5 %."""

    def value(placeholder: re.Match[str]) -> str:
        threshold = thresholds.get(placeholder[1], placeholder[0])
        if not isinstance(threshold, int | float):
            return str(threshold)
        return f"{100 * threshold:g} %" if placeholder[2] else f"{threshold:g}"

    return re.sub(r"\{(\w+)(:%)?\}", value, page)


def detector(id: str) -> Detector:
    """One detector by its id."""
    return next(unit for unit in detectors() if unit.id == id)


@cache
def plugin_detectors() -> tuple[Detector, ...]:
    """The detectors of other packages, without loading the built-in ones."""
    return tuple(unit for module in _plugins("traindx.detectors") for unit in _units_of(module))
