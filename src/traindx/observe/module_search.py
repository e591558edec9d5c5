"""Where a module is, found the way Python finds it but without importing the packages around it."""

from __future__ import annotations

import os
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder


class ModuleNotFound(Exception):
    """Only an import can say where the module is, or whether there is one."""


def located(name: str, path: Sequence[str]) -> ModuleSpec | None:
    """The module that `python -m` would run: of a package its `__main__`, or the package when it has none.

    None when there is no such module for certain. `path` stands for `sys.path`.
    """
    first, *submodules = name.split(".")
    spec = _first(first, path)
    for end in range(1, len(submodules) + 1):
        spec = _inside(spec, ".".join((first, *submodules[:end])))
    main = _inside(spec, f"{name}.__main__")
    return main or spec


def _first(name: str, path: Sequence[str]) -> ModuleSpec | None:
    """By every finder there is, as editable installs have their own; on the path by the path given."""
    for finder in sys.meta_path:
        try:
            spec = _on(path, name) if finder is PathFinder else finder.find_spec(name, None)
        except Exception as error:
            raise ModuleNotFound from error
        if spec is not None:
            return spec
    return None


def _inside(package: ModuleSpec | None, name: str) -> ModuleSpec | None:
    """A part of a package; None when there is none, or when it is no package."""
    if package is None:
        return None
    if package.submodule_search_locations is None:
        if name in sys.modules:  # as `os.path`, which `os` puts there
            raise ModuleNotFound
        return None
    try:
        spec = _on(list(package.submodule_search_locations), name)
    except Exception as error:
        raise ModuleNotFound from error
    if spec is None and not _says_nothing(package):
        raise ModuleNotFound
    return spec


def _says_nothing(package: ModuleSpec) -> bool:
    """Whether importing the package cannot add search paths: it has no `__init__`, or an empty one."""
    if package.loader is None:
        return True
    try:
        return package.origin is not None and os.path.getsize(package.origin) == 0
    except OSError:
        return False


def _on(path: Sequence[str], name: str) -> ModuleSpec | None:
    """The module in the first place that has it; else the places that each have a part of a package.

    `PathFinder` does the same, but asks `sys.modules` for the parents of a package without `__init__`.
    """
    parts: list[str] = []
    for place in path:
        importer = pkgutil.get_importer(place) if isinstance(place, str) else None
        spec = importer.find_spec(name) if importer is not None else None
        if spec is not None and spec.loader is not None:
            return spec
        parts += (spec and spec.submodule_search_locations) or ()
    if not parts:
        return None
    package = ModuleSpec(name, None, is_package=True)
    package.submodule_search_locations = parts
    return package
