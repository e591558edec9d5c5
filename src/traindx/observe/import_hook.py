"""Run a callback when a module has been imported, without importing it or changing it.

A finder is first in `sys.meta_path` until the last awaited module has been imported. It asks the other
finders as Python would, and lends the module's loader an ear for the moment of its execution.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Callback = Callable[[ModuleType], None]
_awaited: dict[str, list[Callback]] = {}


def when_imported(name: str, callback: Callback) -> None:
    """Call back once, right after the module has been executed; at once if that has happened already."""
    module = sys.modules.get(name)
    spec = getattr(module, "__spec__", None)
    if module is not None and not getattr(spec, "_initializing", False):
        _call_back(module, [callback])
        return
    _awaited.setdefault(name, []).append(callback)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)


def forget(name: str) -> None:
    """Stop waiting for a module."""
    _awaited.pop(name, None)
    _leave()


def _leave() -> None:
    if not _awaited:
        with contextlib.suppress(ValueError):
            sys.meta_path.remove(_finder)


def _call_back(module: ModuleType, callbacks: list[Callback]) -> None:
    for callback in callbacks:
        with contextlib.suppress(Exception):
            callback(module)


class _Finder:
    """Passes every question on; only the answer about an awaited module is touched."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name not in _awaited:
            return None
        for finder in list(sys.meta_path):
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                if spec.loader is not None and hasattr(spec.loader, "exec_module"):
                    spec.loader = _Ear(spec.loader)  # type: ignore[assignment]
                return spec
        return None


class _Ear:
    """A loader that executes the module with its own loader, put back in place before."""

    def __init__(self, loader: Any) -> None:
        self._loader = loader

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        create = getattr(self._loader, "create_module", None)
        return create(spec) if create is not None else None

    def exec_module(self, module: ModuleType) -> None:
        loader = self._loader
        if module.__spec__ is not None:
            module.__spec__.loader = loader
        module.__loader__ = loader
        loader.exec_module(module)
        _arrived(module)


# Frames of the import machinery are left out of tracebacks by their file name: an import that fails
# shows the same lines as without us.
_Ear.exec_module.__code__ = _Ear.exec_module.__code__.replace(co_filename="<frozen importlib._bootstrap>")


def _arrived(module: ModuleType) -> None:
    callbacks = _awaited.pop(module.__name__, [])
    _leave()
    _call_back(module, callbacks)


_finder = _Finder()
