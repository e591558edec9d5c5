"""Where the targets of a sequence stand in its input: a language model is asked for the next token."""

from __future__ import annotations

from traindx.observe.arrays import Tensor, Values, host, is_real, size
from traindx.observe.data.targets import IGNORED

_OFFSETS = (-1, 0, 1, 2, 3)
_ROWS, _MOST, _LEAST = 64, 20_000, 200


class TokenOffsets:
    """Counts, over a few batches, at which distance the target of a place is the token of the input."""

    def __init__(self) -> None:
        self._same = dict.fromkeys(_OFFSETS, 0)
        self._all = dict.fromkeys(_OFFSETS, 0)

    def add(self, inputs: Tensor, target: Tensor | None) -> None:
        """A batch of tokens and what is to be predicted, as a table or in one row; other data is left out.

        A recurrent network that is called once for each place gets one token of each row.
        """
        if target is None or self._all[0] >= _MOST or is_real(inputs) or is_real(target):
            return
        if len(inputs.shape) == 1 and inputs.shape == target.shape:
            self._count(0, host(target), host(inputs))
            return
        if len(inputs.shape) != 2:
            return
        rows, width = (int(one) for one in inputs.shape)
        length = size(target) // max(1, rows)
        if size(target) != rows * length or not max(_OFFSETS) < length <= width:
            return
        tokens, wanted = host(inputs[:_ROWS]), host(target.reshape(rows, length)[:_ROWS])
        for offset in _OFFSETS:
            self._count(offset, *_pairs(wanted, tokens, offset))

    def _count(self, offset: int, wanted: Values, given: Values) -> None:
        counted = (wanted != IGNORED) & (wanted != 0)
        self._all[offset] += int(counted.sum())
        self._same[offset] += int((counted & (wanted == given)).sum())

    def facts(self) -> dict[str, float]:
        """The share of targets that are the token so many places further on."""
        if self._all[0] < _LEAST:
            return {}
        return {str(one): round(self._same[one] / self._all[one], 4) for one in _OFFSETS if self._all[one]}


def _pairs(wanted: Values, tokens: Values, offset: int) -> tuple[Values, Values]:
    if offset < 0:
        return wanted[:, -offset:], tokens[:, : wanted.shape[1] + offset]
    count = min(wanted.shape[1], tokens.shape[1] - offset)
    return wanted[:, :count], tokens[:, offset : offset + count]
