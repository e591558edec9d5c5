"""Operations of the script's own in the graph of a step: those that can make NaN, or stretch shapes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

# By the names that the causes of NaN are recorded under.
_WORDS = {
    "Log": "log",
    "Sqrt": "sqrt",
    "Rsqrt": "sqrt",
    "RealDiv": "division",
    "Div": "division",
    "Reciprocal": "division",
    "Pow": "power",
    "Exp": "exp",
    "Acos": "acos",
    "Asin": "asin",
    "Atanh": "atanh",
    "EuclideanNorm": "norm",
}
_COMPARES = ("Sub", "SquaredDifference")
_MOST = 4000
_INSIDE = ("layers", "losses", "optimizers", "metrics")


def suspect(loss: Any) -> str:
    """The word for the operation nearest to the loss that the script itself calls; empty for none."""
    for op in _behind(loss):
        word = _WORDS.get(op.type)
        if word and _written_by_script(op):
            return word
    return ""


def stretched(loss: Any) -> list[dict[str, str]]:
    """Where numbers of N samples, as (N, 1) and (N,), become a table of N by N without being asked to."""
    stretches = []
    for op in _behind(loss):
        if op.type not in _COMPARES or len(op.inputs) != 2 or not _written_by_script(op):
            continue
        shapes = sorted(
            (tensor.shape.as_list() if tensor.shape.rank else [] for tensor in op.inputs), key=len
        )
        if (
            [len(shape) for shape in shapes] == [1, 2]
            and shapes[1][1] == 1
            and 1 not in (shapes[0][0], shapes[1][0])
        ):
            stretches.append({"operation": op.type, "from": "Nx1", "to": "NxN"})
    return stretches[:4]


def _behind(loss: Any) -> Iterator[Any]:
    """Operations behind a loss, the nearest first."""
    waiting: list[Any] = [loss.op]
    visited: set[str] = set()
    while waiting and len(visited) < _MOST:
        op = waiting.pop(0)
        if op.name in visited:
            continue
        visited.add(op.name)
        yield op
        waiting += [tensor.op for tensor in op.inputs]


def _written_by_script(op: Any) -> bool:
    """Whether code outside of the libraries calls it, with no layer or loss of Keras between."""
    libraries, inside = _folders()
    for frame in reversed(op.traceback):
        if frame.filename.startswith(inside):
            return False
        if not frame.filename.startswith(libraries):
            return True
    return False


@lru_cache(1)
def _folders() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where the libraries are, and the parts of Keras that call operations by themselves."""
    import keras

    import traindx

    roots = [str(Path(module.__file__ or "").parent) for module in (keras, traindx, contextlib)]
    roots += [str(Path(str(sys.modules["tensorflow"].__file__)).parent), "<"]
    return tuple(roots), tuple(str(Path(roots[0]) / "src" / part) for part in _INSIDE)
