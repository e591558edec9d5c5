"""Names and their values, by block; and the modules of a script."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field

from traindx.source.script import Script, Source
from traindx.source.values import Class, Value


@dataclass(eq=False)
class Scope:
    """The names of one function, class body or module, and the block around it."""

    source: Source
    outer: Scope | None = None
    names: dict[str, Value] = field(default_factory=dict)
    outside: set[str] = field(default_factory=set)
    this: Value | None = None
    home: Class | None = None

    def find(self, name: str) -> Value | None:
        """The value of a name here."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names and not (scope is self and name in self.outside):
                return scope.names[name]
            scope = scope.outer
        return None

    def bind(self, name: str, value: Value) -> None:
        """Give a name a value, where `global` and `nonlocal` say."""
        scope: Scope = self
        if name in self.outside:
            scope = next((s for s in self._around() if name in s.names), self)
        scope.names[name] = value

    def _around(self) -> list[Scope]:
        scopes, scope = [], self.outer
        while scope is not None:
            scopes.append(scope)
            scope = scope.outer
        return scopes


def module_of(script: Script, source: Source, name: str, level: int) -> Source | None:
    """The file of the script that an import names."""
    folder = os.path.dirname(source.path)
    for _ in range(level - 1):
        folder = os.path.dirname(folder)
    starts = [folder] if level else [folder, os.path.dirname(script.main.path)]
    for start in starts:
        place = os.path.join(start, *name.split(".")) if name else start
        for path in (place + ".py", os.path.join(place, "__init__.py")):
            module = next((file for file in script.sources if _same_path(file.path, path)), None)
            if module is not None and module is not source:
                return module
    return None


def _same_path(first: str, second: str) -> bool:
    return os.path.normpath(first) == os.path.normpath(second)


def declared_outside(node: ast.AST) -> set[str]:
    """Names that a function says are global or nonlocal."""
    return {
        name
        for inner in ast.walk(node)
        if isinstance(inner, ast.Global | ast.Nonlocal)
        for name in inner.names
    }
