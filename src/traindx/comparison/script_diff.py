"""The scripts of two runs, line by line, where the recordings name them and they are unchanged since."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher, unified_diff

from traindx.comparison.subjects import Subject
from traindx.core import files
from traindx.source.edits import in_diff
from traindx.source.script import parse

_LARGEST = 2_000_000
_LINES_MOST = 200


@dataclass(frozen=True)
class CodeDifference:
    """Where two scripts differ. `changes` counts places in code proper, comments left aside.

    `note` says it when the scripts differ but cannot be shown. `lines` are of a unified diff; `changed` are
    the changed line numbers of the second script.
    """

    first: str
    second: str
    changes: int
    lines: tuple[str, ...] = ()
    changed: frozenset[int] = frozenset()
    note: str = ""


def script_id(run: Subject) -> str | None:
    """The id of one version of a script; None when the recording has no script."""
    script = run.run.facts.get("script")
    return str(script["sha256"]) if isinstance(script, Mapping) and script.get("sha256") else None


def code_difference(first: Subject, second: Subject) -> CodeDifference | None:
    """None when a script is not known, or both are the same."""
    first_id, second_id = script_id(first), script_id(second)
    if first_id is None or second_id is None or first_id == second_id:
        return None
    paths = [str(run.run.facts["script"].get("path", "")) for run in (first, second)]
    texts = [_text(path, sha) for path, sha in zip(paths, (first_id, second_id), strict=True)]
    if texts[0] is None or texts[1] is None:
        lost = paths[0] if texts[0] is None else paths[1]
        note = f"the scripts differ, but {lost} is no longer what was recorded: no lines can be shown"
        return CodeDifference(paths[0], paths[1], 1, note=note)
    return _compared(paths, texts[0], texts[1])


def _compared(paths: list[str], first: str, second: str) -> CodeDifference:
    a, b = first.splitlines(), second.splitlines()
    code_a, code_b = _code_lines(first), _code_lines(second)
    changed = set[int]()
    removed: list[list[str]] = []
    added: list[list[str]] = []
    replaced = 0
    for kind, a1, a2, b1, b2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        old = [a[n - 1].strip() for n in range(a1 + 1, a2 + 1) if n in code_a]
        new = [b[n - 1].strip() for n in range(b1 + 1, b2 + 1) if n in code_b]
        if kind == "equal" or not (old or new):
            continue
        changed |= set(range(b1 + 1, max(b2, b1 + 1) + 1))
        replaced += bool(old and new)
        removed += [old] if not new else []
        added += [new] if not old else []
    # Lines that only moved are one change, not two.
    moved = sum(lines in added for lines in removed)
    changes = replaced + len(removed) + len(added) - moved
    lines = list(unified_diff(a, b, in_diff(paths[0]), in_diff(paths[1]), n=1, lineterm=""))
    if len(lines) > _LINES_MOST:
        lines = [*lines[:_LINES_MOST], f"... and {len(lines) - _LINES_MOST:,} more lines"]
    return CodeDifference(paths[0], paths[1], changes, tuple(lines), frozenset(changed))


def _code_lines(text: str) -> set[int]:
    """Lines that hold code: not blank, not a comment, not a docstring."""
    stripped = enumerate(map(str.strip, text.splitlines()), 1)
    lines = {number for number, line in stripped if line and not line.startswith("#")}
    try:
        tree = parse(text)
    except (SyntaxError, ValueError, RecursionError):
        return lines
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Expr)
            and isinstance(node.value, ast.Constant)
            and isinstance(node.value.value, str)
        ):
            lines -= set(range(node.lineno, (node.end_lineno or node.lineno) + 1))
    return lines


def _text(path: str, sha: str) -> str | None:
    if not path.endswith(".py"):
        return None
    try:
        data = files.read(path, _LARGEST)
    except OSError:
        return None
    return data.decode("utf-8", "replace") if hashlib.sha256(data).hexdigest() == sha else None
