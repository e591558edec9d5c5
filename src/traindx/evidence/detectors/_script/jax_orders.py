"""JAX: samples put in random orders, and probabilities over the wrong axis, as they are written."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from traindx.source import Script
from traindx.source.jax import (
    argument,
    calls,
    full_name,
    jax_sources,
    own_nodes,
    scopes,
    spot,
    targets,
    whole,
)
from traindx.source.script import Source
from traindx.source.values import Spot

_LABELS = ("y", "label", "labels", "target", "targets")
_PICKS = ("jnp.take_along_axis",)


def permuted_apart(script: Script) -> Iterator[tuple[Spot, Spot]]:
    """Two arrays of one scope, one of them labels, each permuted by a key of its own: both calls."""
    for source in jax_sources(script):
        for scope in scopes(source):
            draws = [draw for node in own_nodes(scope) if (draw := _permuted(source, node)) is not None]
            labels = [draw for draw in draws if _is_label(draw[0])]
            inputs = [draw for draw in draws if not _is_label(draw[0])]
            for _, key, call in labels[:1]:
                for _, other_key, first in inputs[:1]:
                    if ast.dump(key) != ast.dump(other_key):
                        yield spot(source, call), spot(source, first)


def _permuted(source: Source, node: ast.AST) -> tuple[str, ast.expr, ast.Call] | None:
    """The name, key and call of `y = jax.random.permutation(key, y)`."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Call):
        return None
    call, bound = node.value, targets(node)
    if full_name(source, call.func) != "jax.random.permutation" or len(call.args) < 2 or len(bound) != 1:
        return None
    names = {leaf.id for leaf in ast.walk(call.args[1]) if isinstance(leaf, ast.Name)}
    name = bound[0].id if isinstance(bound[0], ast.Name) else ""
    return (name, call.args[0], call) if name in names else None


def _is_label(name: str) -> bool:
    return name.lower().split("_")[0] in _LABELS


def softmax_over_batch(script: Script) -> Iterator[tuple[Spot, Spot]]:
    """A softmax over axis 0 from which the class of each sample is picked along another axis: both calls."""
    for source in jax_sources(script):
        for scope in scopes(source):
            bound: dict[str, ast.Call] = {}
            for node in own_nodes(scope):
                if isinstance(node, ast.Assign):
                    inner = [part for part in ast.walk(node.value) if _over_batch(source, part)]
                    names = [target.id for target in targets(node) if isinstance(target, ast.Name)]
                    bound |= {name: call for name in names for call in inner if isinstance(call, ast.Call)}
            for call, name in calls(source, scope):
                axis = whole(argument(call, 2, "axis"))
                if name not in _PICKS or axis not in (1, -1) or not call.args:
                    continue
                first = call.args[0]
                normalised = bound.get(first.id) if isinstance(first, ast.Name) else first
                if isinstance(normalised, ast.Call) and _over_batch(source, normalised):
                    yield spot(source, normalised), spot(source, call)


def _over_batch(source: Source, node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = full_name(source, node.func)
    return name in ("jax.nn.softmax", "jax.nn.log_softmax") and whole(argument(node, 1, "axis")) == 0
