"""The words a script speaks of, for what can be known to be nowhere in it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from traindx.source import Script


def speaks_of(script: Script, words: re.Pattern[str]) -> bool:
    """Whether any name, attribute or argument in the source holds one of the words; comments do not count."""
    return any(words.search(name.lower()) for source in script.sources for name in _names(source.tree))


def _names(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.FunctionDef(name=name):
                yield name
            case ast.ClassDef(name=name) | ast.arg(arg=name) | ast.alias(name=name):
                yield name
            case ast.keyword(arg=str(name)):
                yield name
