"""Whether a loss came down at all."""

from __future__ import annotations

from traindx.evidence.case import Curve


def learns(loss: Curve | None, *, share: float = 0.1, noises: float = 6.0, points: int = 6) -> bool:
    """Whether a finite loss fell by a tenth of its start and by far more than its noise."""
    if loss is None or loss.broken or len(loss) < points:
        return False
    return loss.head - loss.tail > max(share * abs(loss.head), noises * loss.noise)
