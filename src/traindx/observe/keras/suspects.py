"""Operations of the script's own that can make NaN of finite numbers, found in the graph of a step."""

from __future__ import annotations

import contextlib
import sys
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
_MOST = 4000
_INSIDE = ("layers", "losses", "optimizers", "metrics")


def suspect(loss: Any) -> str:
    """The word for the operation nearest to the loss that the script itself calls; empty for none."""
    waiting: list[Any] = [loss.op]
    seen: set[str] = set()
    while waiting and len(seen) < _MOST:
        op = waiting.pop(0)
        if op.name in seen:
            continue
        seen.add(op.name)
        word = _WORDS.get(op.type)
        if word and _written_by_script(op):
            return word
        waiting += [one.op for one in op.inputs]
    return ""


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

    roots = [str(Path(one.__file__ or "").parent) for one in (keras, traindx, contextlib)]
    roots += [str(Path(str(sys.modules["tensorflow"].__file__)).parent), "<"]
    return tuple(roots), tuple(str(Path(roots[0]) / "src" / part) for part in _INSIDE)
