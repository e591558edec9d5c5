"""Which of the first steps are sampled whatever they cost: the first steps show the most."""

from __future__ import annotations

# Steps 1, 2, 4 ... to this one. Step 3 too: steps in a row show whether the gradient turns around.
_LAST = 512
_IN_A_ROW = 3


class EarlySteps:
    """Gives a sample to each power of two that has come by; some steps come in bulk."""

    def __init__(self) -> None:
        self._coming = 1

    def due(self, coming: int) -> bool:
        if coming < self._coming // 2:  # another training: its steps count from one
            self._coming = 1
        if coming == _IN_A_ROW:
            return True
        if coming < self._coming or self._coming > _LAST:
            return False
        while self._coming <= coming:
            self._coming *= 2
        return True
