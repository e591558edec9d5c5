"""A model that is in a checkpoint twice: its weights and an average, a master copy, a teacher of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from traindx.checkup.weights.measure import MATRICES
from traindx.checkup.weights.tensors import StoredTensor

_FRONTS_MOST = 6


def model_copies(tensors: Sequence[StoredTensor], kinds: Mapping[str, str]) -> list[dict[str, Any]]:
    """One fact for each two parts of a checkpoint whose weight matrices have the same names and shapes.

    `ratios` are the norms of the second's matrices over those of the first's, `cosines` how far they agree.
    """
    parts: dict[str, dict[str, StoredTensor]] = {}
    for tensor in tensors:
        if kinds[tensor.name] in MATRICES and tensor.dtype.startswith(("float", "bfloat")):
            front, _, rest = tensor.name.partition(".")
            parts.setdefault(front, {})[rest] = tensor
    named = {front: _without_front(part) for front, part in list(parts.items())[:_FRONTS_MOST]}
    facts = []
    for first, second in combinations(named, 2):
        shapes = [{rest: tensor.shape for rest, tensor in named[front].items()} for front in (first, second)]
        if len(shapes[0]) >= 2 and shapes[0] == shapes[1] and not (first + second).isdigit():
            pairs = [(named[first][rest], named[second][rest]) for rest in shapes[0]]
            facts.append({"first": first, "second": second, "matrices": len(pairs), **_compared(pairs)})
    return facts


def _without_front(part: Mapping[str, StoredTensor]) -> Mapping[str, StoredTensor]:
    """Names without what all of them begin with, such as `module.`."""
    while all("." in rest for rest in part) and len({rest.partition(".")[0] for rest in part}) == 1:
        part = {rest.partition(".")[2]: tensor for rest, tensor in part.items()}
    return part


def _compared(pairs: Sequence[tuple[StoredTensor, StoredTensor]]) -> dict[str, Any]:
    ratios, cosines = [], []
    for pair in pairs:
        a, b = (np.asarray(tensor.load(), dtype=np.float64).reshape(-1) for tensor in pair)
        sizes = float(np.linalg.norm(a)), float(np.linalg.norm(b))
        product = sizes[0] * sizes[1]
        if product and math.isfinite(product):
            ratios.append(sizes[1] / sizes[0])
            cosines.append(float(a @ b) / product)
    if not ratios:
        return {}
    return {
        "ratio_low": min(ratios),
        "ratio": float(np.median(ratios)),
        "ratio_high": max(ratios),
        "cosine": float(np.median(cosines)),
    }
