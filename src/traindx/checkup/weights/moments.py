"""Adam's two moments of one weight against each other."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from traindx.checkup.weights.tensors import StoredTensor

# A gradient below this has a square that float32 cannot hold either.
_LEAST_FIRST = 1e-12


def squares_lost(tensors: Sequence[StoredTensor]) -> dict[str, float]:
    """By name of a second moment, the share of its values that are 0 while the first moments are not.

    A second moment is an average of the squares of what the first is the average of: it can only be 0 there
    because the square was too small for its format.
    """
    firsts = {
        tensor.name.partition("/")[2]: tensor for tensor in tensors if tensor.name.startswith("exp_avg/")
    }
    shares = {}
    for tensor in tensors:
        kind, _, parameter = tensor.name.partition("/")
        first = firsts.get(parameter)
        if kind != "exp_avg_sq" or first is None or first.shape != tensor.shape or not tensor.shape:
            continue
        squares, averages = (np.asarray(moment.load()).reshape(-1) for moment in (tensor, first))
        if squares.size:
            shares[tensor.name] = float(((squares == 0) & (np.abs(averages) > _LEAST_FIRST)).mean())
    return shares
