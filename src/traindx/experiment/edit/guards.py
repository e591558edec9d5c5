"""The argument of an operation, kept where the operation is finite."""

from __future__ import annotations

import ast

from traindx.experiment.edit.draft import Draft
from traindx.experiment.edit.new_number import short
from traindx.source.domains import DOMAINS

_GUARDS = ("clamp", "1e-", "eps", "clip(")


def is_guarded(text: str) -> bool:
    """Whether an expression has a guard of its own."""
    return any(word in text for word in _GUARDS)


def put_guard(
    draft: Draft,
    inner: ast.expr,
    name: str,
    *,
    margin: float | None = None,
    below: bool = False,
    least: str = "",
) -> str:
    """A clamp at the domain of the operation `name`, or a small number added; the new text.

    `margin` is how far to stay away from the edge, `below` whether numbers beyond it were recorded, `least`
    another end than the domain's own.
    """
    domain = DOMAINS[name]
    step = short(domain.margin if margin is None else margin)
    if domain.added and not below:
        new = f"{draft.text(inner)} + {step}"
        around = draft.parent(inner)
        alone = isinstance(around, ast.Call) and inner in around.args
        draft.replace(inner, new if alone else f"({new})")
        return new
    low = least or (None if domain.low is None else _moved(domain.low, "+", step))
    high = None if domain.high is None else _moved(domain.high, "-", step)
    method = f".clamp({low}, {high})" if high is not None else f".clamp_min({low})"
    if isinstance(inner, ast.Name) and (statement := _used_besides(draft, inner)) is not None:
        draft.before(statement, f"{inner.id} = {inner.id}{method}")
        return inner.id + method
    return draft.follow(inner, method)


def _used_besides(draft: Draft, name: ast.Name) -> ast.stmt | None:
    """The statement of a name that its block uses again later.

    A loss of which only one part is bounded falls for ever through the other.
    """
    statement = draft.statement_of(name)
    block = draft.block(statement)
    later = [node for sibling in block[block.index(statement) :] for node in ast.walk(sibling)]
    uses = [node for node in later if isinstance(node, ast.Name) and node.id == name.id]
    return statement if len(uses) > 1 else None


def _moved(edge: float, sign: str, step: str) -> str:
    if edge == 0:
        return step if sign == "+" else f"-{step}"
    return f"{edge:g} {sign} {step}"
