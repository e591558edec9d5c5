"""Sequences of tokens: how well the tokens before a target predict it."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from traindx.observe.arrays import Tensor, Values, evenly, host, is_real, readable, size

_ROWS, _LENGTH = 16, 256
_LEAST_LENGTH = 4
_TOKENS = 512
_ENOUGH = 60_000

Codes = npt.NDArray[np.int64]


class TokenEntropy:
    """Adds up over the sampled batches of a training; whatever has no tokens is passed over."""

    def __init__(self) -> None:
        self._target_count = 0
        self._codes: list[Codes] = []

    def add(self, inputs: Tensor, target: Tensor) -> None:
        """A batch of tokens and its targets, of one shape or with the targets in one row."""
        if self._target_count >= _ENOUGH:
            return
        pair = _rows(inputs, target)
        if pair is None:
            return
        tokens, targets = pair
        is_counted = targets >= 0
        self._target_count += int(is_counted.sum())
        if max(int(tokens.max()), int(targets.max())) < _TOKENS and tokens.min() >= 0:
            parts = (tokens[:, :-1], tokens[:, 1:], targets[:, 1:])
            previous, current, following = (part.astype(np.int64) for part in parts)
            codes = ((previous * _TOKENS + current) * _TOKENS + following)[is_counted[:, 1:]]
            self._codes.append(codes.reshape(-1))

    def facts(self) -> dict[str, float]:
        """The entropy of a target, given the token at its place, and given the one before too."""
        if not self._codes:
            return {}
        codes = np.concatenate(self._codes)
        following, pairs = codes % _TOKENS, codes // _TOKENS
        return {
            "targets": self._target_count,
            "entropy": round(_entropy(following), 4),
            "given_one": round(_entropy(codes % _TOKENS**2) - _entropy(pairs % _TOKENS), 4),
            "given_two": round(_entropy(codes) - _entropy(pairs), 4),
            "contexts": int(np.unique(pairs).size),
        }


def _entropy(codes: Codes) -> float:
    counts = np.unique(codes, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


def _rows(inputs: Tensor, target: Tensor) -> tuple[Values, Values] | None:
    """Some rows of a batch of tokens with their targets; None where these are none."""
    tokens, targets = readable(inputs), readable(target)
    if tokens is None or targets is None or tokens.ndim != 2 or is_real(tokens) or is_real(targets):
        return None
    if size(tokens) != size(targets) or tokens.shape[1] < _LEAST_LENGTH:
        return None
    targets = targets.reshape(tokens.shape)
    rows = host(evenly(tokens, (_ROWS, tokens.shape[1])))[:, :_LENGTH]
    return rows, host(evenly(targets, (_ROWS, tokens.shape[1])))[:, :_LENGTH]
