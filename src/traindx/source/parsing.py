"""Source text as a syntax tree."""

from __future__ import annotations

import ast
import warnings


def parse(text: str, name: str = "<unknown>") -> ast.Module:
    """The tree. Python warns of odd strings and numbers on standard error, with the file's name as it is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, name)
