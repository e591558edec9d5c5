"""The spikes of the training loss, found once for the detectors that ask about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.case import Curve

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray


@dataclass(frozen=True)
class Jump:
    """One spike: where it begins, how many times the level around it, whether it came back at once."""

    step: float
    ratio: float
    height: float
    recovered: bool
    level: float


def loss_jumps(loss: Curve, ratio: float = 1.5) -> list[Jump]:
    """Spikes to `ratio` times the level around them or more."""
    found = []
    for spike in loss.spikes:
        if spike.ratio < ratio:
            continue
        level = float(loss.y[spike.peak]) - float(spike.height)
        found.append(
            Jump(float(loss.x[spike.at]), float(spike.ratio), float(spike.height), spike.recovered, level)
        )
    return found


def felt(loss: Curve, jumps: list[Jump], share: float) -> bool:
    """Whether the typical spike is a part of the first loss: beside a loss near zero all spikes are large."""
    return float(np.median([jump.height for jump in jumps])) >= share * abs(loss.head)


def lasts(loss: Curve, jump: Jump) -> bool:
    """Whether the loss ended clearly above the level before the spike, by its size and by its start."""
    return not jump.recovered and loss.tail - jump.level > max(0.2 * jump.level, 0.02 * abs(loss.head))


def together(steps: list[float], others: FloatArray, reach: float) -> int:
    """How many of the steps have one of the others within reach."""
    if not others.size:
        return 0
    return sum(bool(np.abs(others - step).min() <= reach) for step in steps)


def expected_together(count: int, others: int, reach: float, span: float) -> float:
    """How many would coincide by accident."""
    return count * min(1.0, others * 2 * reach / span) if span > 0 else float(count)
