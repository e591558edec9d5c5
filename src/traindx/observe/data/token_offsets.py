"""The offset of the targets of a sequence in its input: a language model predicts the next token."""

from __future__ import annotations

from traindx.observe.arrays import Tensor, Values, host, is_real, size
from traindx.observe.data.targets import IGNORED

_OFFSETS = (-1, 0, 1, 2, 3)
_ROWS, _MOST, _LEAST = 64, 20_000, 200


class TokenOffsets:
    """Counts, over a few batches, at which distance the target of a place is the token of the input."""

    def __init__(self) -> None:
        self._matches = dict.fromkeys(_OFFSETS, 0)
        self._totals = dict.fromkeys(_OFFSETS, 0)

    def add(self, inputs: Tensor, target: Tensor | None) -> None:
        """A batch of tokens and what is to be predicted, as a table or in one row; other data is left out.

        A recurrent network that is called once for each place gets one token of each row.
        """
        if target is None or self._totals[0] >= _MOST or is_real(inputs) or is_real(target):
            return
        if len(inputs.shape) == 1 and inputs.shape == target.shape:
            self._count(0, host(target), host(inputs))
            return
        if len(inputs.shape) != 2:
            return
        rows, width = (int(dimension) for dimension in inputs.shape)
        length = size(target) // max(1, rows)
        if size(target) != rows * length or not max(_OFFSETS) < length <= width:
            return
        tokens, targets = host(inputs[:_ROWS]), host(target.reshape(rows, length)[:_ROWS])
        for offset in _OFFSETS:
            self._count(offset, *_pairs(targets, tokens, offset))

    def _count(self, offset: int, targets: Values, tokens: Values) -> None:
        counted = (targets != IGNORED) & (targets != 0)
        self._totals[offset] += int(counted.sum())
        self._matches[offset] += int((counted & (targets == tokens)).sum())

    def facts(self) -> dict[str, float]:
        """For each offset, the share of targets that equal the input token at that offset."""
        if self._totals[0] < _LEAST:
            return {}
        return {
            str(offset): round(self._matches[offset] / self._totals[offset], 4)
            for offset in _OFFSETS
            if self._totals[offset]
        }


def _pairs(targets: Values, tokens: Values, offset: int) -> tuple[Values, Values]:
    if offset < 0:
        return targets[:, -offset:], tokens[:, : targets.shape[1] + offset]
    count = min(targets.shape[1], tokens.shape[1] - offset)
    return targets[:, :count], tokens[:, offset : offset + count]
