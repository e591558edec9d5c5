"""Logarithms, roots and divisions kept away from zero."""

from __future__ import annotations

import ast

from traindx.core import Place
from traindx.script.source import Source
from traindx.script.values import Spot
from traindx.trial.editing.defects import Mender
from traindx.trial.editing.job import Job, at
from traindx.trial.editing.linted import findings
from traindx.trial.editing.result import Uncertain

_SMALL = {"log": "1e-7", "log2": "1e-7", "log10": "1e-7", "sqrt": "1e-8", "rsqrt": "1e-8"}


def guard(job: Job, place: Place | None) -> str:
    """A small number under the logarithm, root or fraction that can meet zero."""
    seen = [one.places[0] for one in findings(job, "script_unguarded_math")]
    chosen = [
        one for one in seen if place is None or (one.file, one.line) == (place.file, place.line)
    ] or seen
    if place is not None and place.line is not None and not seen:
        chosen = [place]
    told = []
    for one in chosen:
        source = next((s for s in job.script.sources if s.path == one.file), None)
        if source is not None and one.line is not None:
            told += _guarded(job, source, one.line)
    if not told:
        raise Uncertain("Keep what stands under the logarithm, root or fraction away from zero.", place)
    return "; ".join(dict.fromkeys(told)) + "."


def _guarded(job: Job, source: Source, line: int) -> list[str]:
    told = []
    for node in ast.walk(source.tree):
        if getattr(node, "lineno", 0) != line:
            continue
        if isinstance(node, ast.Call):
            told += _call(job, source, node)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _norm(node.right):
            text = job.draft.text(source, node.right)
            job.draft.replace(source, node.right, f"({text} + 1e-8)")
            told.append(f"1e-8 is added to the divisor in line {line}")
    return told


def _norm(node: ast.expr) -> bool:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return named and node.func.attr in ("norm", "std", "var")  # type: ignore[attr-defined]


def _call(job: Job, source: Source, node: ast.Call) -> list[str]:
    """`log(p)` -> `log(p.clamp_min(1e-7))`, `sqrt(s)` -> `sqrt(s + 1e-8)`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _SMALL:
        return []
    name = node.func.attr
    method = not node.args
    inner = node.func.value if method else node.args[0]
    if len(node.args) > 1 or node.keywords or (not method and not _is_torch(node.func.value)):
        return []
    text = job.draft.text(source, inner)
    if any(word in text for word in ("clamp", "1e-", "eps", "clip(")):
        raise Uncertain(
            "What stands here is guarded already: look at how large its guard is.", at(Spot(source, node))
        )
    simple = isinstance(inner, ast.Name | ast.Call | ast.Attribute | ast.Subscript)
    if name.startswith("log"):
        new = f"{text if simple else f'({text})'}.clamp_min({_SMALL[name]})"
    else:
        new = f"{text} + {_SMALL[name]}"
        new = f"({new})" if method else new
    job.draft.replace(source, inner, new)
    return [f"{name} of {new} in line {node.lineno}"]


def _is_torch(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "F", "th")


MENDERS: dict[str, tuple[Mender, ...]] = {"guard_math": (guard,)}
