"""What the detectors of data files share: their facts, the line that reads a file, and what the script
does.
"""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

from traindx.core.facts import Fact, facts, number, word
from traindx.core.nouns import Place, Run
from traindx.evidence.case import Case
from traindx.source import Script
from traindx.testing.sketch import run

_DROPPING = re.compile(r"drop|pop|exclude|ignore|skip|remove|not_features|id_col|meta", re.I)
NEEDS = ("fact:data_files",)


def listed(case: Case, name: str) -> Sequence[Fact]:
    """The facts of one kind that were measured of the data files."""
    return facts(case.run.facts.get(name))


def reading(case: Case, table: str) -> tuple[str, tuple[Place, ...]]:
    """`, read in train.py:3` with its place; empty where nobody knows the line."""
    name = re.split(r" \(|:", table)[0]
    for entry in listed(case, "data_files"):
        path, colon, line = word(entry, "line").rpartition(":")
        if entry.get("name") == name and colon and line.isdigit():
            phrase = f" (read in {os.path.basename(path)}:{line})"
            return phrase, (Place(path, int(line)),)
    return "", ()


def fits(pair: Fact) -> bool:
    """Whether names say which of two files is for training and which is not."""
    splits = pair.get("splits")
    return isinstance(splits, list) and "" not in splits and len(set(splits)) > 1


def suspects(target: Fact) -> str:
    """The three rows whose label or number is the most suspicious."""
    return ", ".join(
        f"row {round(number(row, 'row') or 0.0)} ({word(row, 'label')}, rather {word(row, 'rather')})"
        for row in facts(target.get("suspects"))[:3]
    )


def rows(count: object) -> str:
    """`1 row`, `1,200 rows`."""
    return "1 row" if count == 1 else f"{count:,} rows" if isinstance(count, int) else "rows"


def _constants(script: Script) -> Iterator[ast.Constant]:
    for source in script.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant):
                yield node


def names_value(script: Script | None, value: float) -> bool:
    """Whether the script writes this number: then it deals with it."""
    if script is None:
        return False
    digits = f"{abs(value):g}"
    for node in _constants(script):
        if isinstance(node.value, int | float) and not isinstance(node.value, bool):
            if float(node.value) == abs(value):
                return True
        elif isinstance(node.value, str) and node.value.strip().lstrip("-") == digits:
            return True
    return False


def is_used(script: Script | None, column: str, columns: Sequence[str]) -> bool:
    """Whether a column reaches the model as far as the source shows: it is not dropped, nor the only one of
    its kind that is not named.
    """
    if script is None:
        return True
    texts = {node.value for node in _constants(script) if isinstance(node.value, str)}
    if column in texts:
        return not _is_dropped(script, column)
    return sum(name in texts for name in columns) < max(2, len(columns) / 2)


def _is_dropped(script: Script, column: str) -> bool:
    for source in script.sources:
        for node in ast.walk(source.tree):
            if isinstance(node, ast.Constant) and node.value == column and _in_dropping(source, node):
                return True
    return False


def _in_dropping(source: Any, node: ast.AST) -> bool:
    """Whether a name is in a call, assignment or comparison that leaves things out."""
    while (node := source.parents.get(node)) is not None and not isinstance(node, ast.stmt):
        if isinstance(node, ast.Call) and _DROPPING.search(ast.unparse(node.func)):
            return True
        if isinstance(node, ast.Compare) and any(isinstance(op, ast.NotIn | ast.NotEq) for op in node.ops):
            return True
    targets = getattr(node, "targets", [])
    return any(
        isinstance(target, ast.Name) and _DROPPING.search(target.id) for target in targets
    ) or isinstance(node, ast.Delete)


def data(kind: str, fact: Fact | None = None, **fields: Any) -> Run:
    """A made-up run that reads a data file of which one thing was measured; of a kind of "" nothing was."""
    entry = {**(fact or {}), **fields}
    name = next((entry[key] for key in ("second", "file", "folder", "table") if key in entry), "a.csv")
    measured = {kind: [entry]} if kind else {}
    return run({}, facts={"data_files": [{"name": name, "line": "train.py:4"}], **measured})
