"""Logarithms, roots and divisions kept away from zero; every operation inside of its domain."""

from __future__ import annotations

import ast

from traindx.core.nouns import Place
from traindx.experiment.edit.defects import Mender
from traindx.experiment.edit.guards import is_guarded, put_guard
from traindx.experiment.edit.job import Job, at
from traindx.experiment.edit.lint_edits import findings
from traindx.experiment.edit.result import Uncertain
from traindx.experiment.edit.unstable import broken, first_bad, guard_each, of_data
from traindx.source.domains import names_of
from traindx.source.script import Source
from traindx.source.values import Spot

_LINED = frozenset("log log2 log10 sqrt rsqrt".split())


def counted(job: Job, place: Place | None) -> str:
    """Where the targets go through `log1p`, too, they are never negative: nor need predictions be."""
    places = [one for one in broken(job) if one.name == "log1p"]
    if not places or not of_data(job, "log1p"):
        raise Uncertain(_words(job), place)
    return "; ".join(dict.fromkeys(guard_each(job, places, least="0.0"))) + "."


def recorded(job: Job, place: Place | None) -> str:
    """The operation that the recording saw break, wherever the model's output goes through it."""
    told = guard_each(job, broken(job))
    if not told:
        raise Uncertain(_words(job), place)
    return "; ".join(dict.fromkeys(told)) + "."


def guard(job: Job, place: Place | None) -> str:
    """A small number under the logarithm, root or fraction that can meet zero."""
    if broken(job):
        raise Uncertain(_words(job), place)
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
        raise Uncertain(_words(job), place)
    return "; ".join(dict.fromkeys(told)) + "."


def _words(job: Job) -> str:
    said = first_bad(job)[0]
    if said:
        return f"Keep what goes into the operation that broke ({said}) where it is finite, by a clamp."
    return "Keep what stands under the logarithm, root or fraction away from zero."


def _guarded(job: Job, source: Source, line: int) -> list[str]:
    told = []
    meant = names_of(first_bad(job)[0])
    for node in ast.walk(source.tree):
        if getattr(node, "lineno", 0) != line:
            continue
        if isinstance(node, ast.Call):
            told += _call(job, source, node, meant)
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) and _norm(node.right):
            text = job.draft.text(source, node.right)
            job.draft.replace(source, node.right, f"({text} + 1e-8)")
            told.append(f"1e-8 is added to the divisor in line {line}")
    return told


def _norm(node: ast.expr) -> bool:
    named = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)
    return named and node.func.attr in ("norm", "std", "var")  # type: ignore[attr-defined]


def _call(job: Job, source: Source, node: ast.Call, meant: tuple[str, ...]) -> list[str]:
    """`log(p)` -> `log(p.clamp_min(1e-7))`, `sqrt(s)` -> `sqrt(s + 1e-8)`."""
    if not isinstance(node.func, ast.Attribute) or node.func.attr not in _LINED:
        return []
    if meant and node.func.attr not in meant:
        return []
    method = not node.args
    inner = node.func.value if method else node.args[0]
    if len(node.args) > 1 or node.keywords or (not method and not _is_torch(node.func.value)):
        return []
    if is_guarded(job.draft.text(source, inner)):
        raise Uncertain(
            "What stands here is guarded already: look at how large its guard is.", at(Spot(source, node))
        )
    new = put_guard(job.draft, source, inner, node.func.attr)
    return [f"{node.func.attr} of {new} in line {node.lineno}"]


def _is_torch(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ("torch", "F", "th")


MENDERS: dict[str, tuple[Mender, ...]] = {"guard_math": (counted, recorded, guard)}
