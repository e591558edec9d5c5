"""A script and the local modules it imports, parsed."""

from __future__ import annotations

import ast
import hashlib
import os
import shlex
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import decode_source
from pathlib import Path
from typing import TYPE_CHECKING

from traindx.core import files
from traindx.core.nouns import Run, Unreadable

if TYPE_CHECKING:
    from traindx.source.execution import Trace
    from traindx.source.training import Training

_LARGEST = 2_000_000
_MODULES_MOST = 40


@dataclass(frozen=True)
class Source:
    """One file: its path as it is shown, its text and its syntax tree."""

    path: str
    text: str
    tree: ast.Module

    @cached_property
    def lines(self) -> list[str]:
        return self.text.splitlines()

    @cached_property
    def parents(self) -> dict[ast.AST, ast.AST]:
        """The parent of each node of the syntax tree."""
        return {child: node for node in ast.walk(self.tree) for child in ast.iter_child_nodes(node)}


@dataclass(frozen=True)
class Script:
    """A training script and those modules of its own folder that it imports, itself first.

    `arguments` are those it was run with, where that is known.
    """

    sources: tuple[Source, ...]
    arguments: tuple[str, ...] = ()

    @property
    def main(self) -> Source:
        return self.sources[0]

    def source_of(self, node: ast.AST) -> Source:
        """The file that a node of the syntax trees is of; raises LookupError."""
        for source in self.sources:
            if node in source.parents or node is source.tree:
                return source
        raise LookupError("a node of another script")

    @cached_property
    def trace(self) -> Trace:
        """What the script would do, call by call."""
        from traindx.source.follow import follow

        return follow(self)

    @cached_property
    def training(self) -> Training:
        """Its training loops."""
        from traindx.source.training import Training

        return Training(self, self.trace)


def read_script(path: str | os.PathLike[str]) -> Script:
    """Parse a script and the local modules it imports; raises Unreadable with one line that says why."""
    name = os.fspath(path)
    main = _read(Path(path), name)
    sources = {Path(path).resolve(): main}
    waiting = [(main, Path(path).resolve())]
    while waiting and len(sources) < _MODULES_MOST:
        source, place = waiting.pop(0)
        for module in _local_modules(source.tree, place.parent, Path(path).resolve().parent):
            if module in sources or len(sources) >= _MODULES_MOST:
                continue
            try:
                sources[module] = _read(module, _display_path(module, Path(path)))
            except Unreadable:
                continue
            waiting.append((sources[module], module))
    return Script(tuple(sources.values()))


def script_of(run: Run) -> tuple[Script | None, str]:
    """The script a recording was made of, if it has not changed; else why it is not read."""
    facts = run.facts.get("script")
    if not isinstance(facts, dict) or not isinstance(path := facts.get("path"), str):
        return None, ""
    try:
        if not path.endswith(".py"):
            return None, ""
        if hashlib.sha256(files.read(path, _LARGEST)).hexdigest() != facts.get("sha256"):
            return None, f"{path} has changed since it was recorded: give --script to read it nevertheless"
        return replace(read_script(path), arguments=_arguments(run.config.get("command"), path)), ""
    except (OSError, Unreadable):
        return None, ""


def _arguments(command: object, path: str) -> tuple[str, ...]:
    """What stands behind the script in a recorded command line."""
    try:
        words = shlex.split(command) if isinstance(command, str) else []
    except ValueError:
        return ()
    if words[1:2] == ["-m"]:
        return tuple(words[3:])
    name = os.path.basename(path)
    at = next((number for number, word in enumerate(words, 1) if os.path.basename(word) == name), len(words))
    return tuple(words[at:])


def parse_script(text: str, path: str = "train.py") -> Script:
    """A script given as text."""
    return Script((_parse(text, path),))


def _read(path: Path, name: str) -> Source:
    try:
        text = decode_source(files.read(path, _LARGEST))
    except OSError as error:
        raise Unreadable(f"{name} cannot be read: {error.strerror or error}") from None
    except (SyntaxError, UnicodeDecodeError) as error:
        raise Unreadable(f"{name} is not Python source: {error}") from None
    return _parse(text, name)


def _parse(text: str, name: str) -> Source:
    try:
        return Source(name, text, parse(text, name))
    except SyntaxError as error:
        raise Unreadable(f"{name} has a syntax error in line {error.lineno}: {error.msg}") from None
    except (ValueError, RecursionError, MemoryError) as error:
        raise Unreadable(f"{name} cannot be parsed: {error}") from None


def _display_path(module: Path, script: Path) -> str:
    """A module's path as the user would write it, relative to the script's."""
    try:
        return os.path.join(os.path.dirname(os.fspath(script)), module.relative_to(script.resolve().parent))
    except ValueError:
        return str(module)


def _local_modules(tree: ast.Module, folder: Path, root: Path) -> Iterator[Path]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [(0, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            names = [(node.level, base)] if base else []
            names += [(node.level, f"{base}.{alias.name}".lstrip(".")) for alias in node.names]
        else:
            continue
        for level, name in names:
            yield from _files(name, folder, root, level)


def _files(name: str, folder: Path, root: Path, level: int) -> Iterator[Path]:
    starts = [root, folder] if level == 0 else [folder.joinpath(*[".."] * (level - 1))]
    parts = name.split(".")
    if not all(part.isidentifier() for part in parts):
        return
    for start in dict.fromkeys(starts):
        place = start.joinpath(*parts)
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                yield file.resolve()
                return


def parse(text: str, name: str = "<unknown>") -> ast.Module:
    """The tree. Python warns of odd strings and numbers on standard error, with the file's name as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, name)
