"""The spikes of the training loss, found once for the detectors that ask about them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from traindx.evidence.case import Case, Curve

if TYPE_CHECKING:
    from traindx.core.nouns import FloatArray

FEWEST = 30
NORM_FACTOR, DISTANCE_POINTS = 3.0, 2.0


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
    jumps = []
    for spike in loss.spikes:
        if spike.ratio < ratio:
            continue
        level = float(loss.y[spike.peak]) - float(spike.height)
        jumps.append(
            Jump(float(loss.x[spike.at]), float(spike.ratio), float(spike.height), spike.recovered, level)
        )
    return jumps


def felt(loss: Curve, jumps: list[Jump], share: float) -> bool:
    """Whether the typical spike is a part of the first loss: beside a loss near zero all spikes are large."""
    return float(np.median([jump.height for jump in jumps])) >= share * abs(loss.head)


def lasts(loss: Curve, jump: Jump) -> bool:
    """Whether the loss ended clearly above the level before the spike, by its size and by its start."""
    return not jump.recovered and loss.tail - jump.level > max(0.2 * jump.level, 0.02 * abs(loss.head))


def together(steps: list[float], neighbours: FloatArray, reach: float) -> int:
    """How many of the steps have one of the others within reach."""
    if not neighbours.size:
        return 0
    return sum(bool(np.abs(neighbours - step).min() <= reach) for step in steps)


def gradient_jumps(
    loss: Curve, grad_norm: Curve, factor: float = NORM_FACTOR, points: float = DISTANCE_POINTS
) -> tuple[int, int] | None:
    """Spikes of the loss at which the gradient norm jumps, and all of them; None below chance or a half."""
    jumps = [jump.step for jump in loss_jumps(loss)]
    if not jumps or len(loss) < FEWEST or len(grad_norm) < FEWEST:
        return None
    near = points * float(np.median(np.diff(grad_norm.x)) or 1.0)
    local = np.interp(grad_norm.x, grad_norm.coarse.step, grad_norm.coarse.median)
    high = grad_norm.x[grad_norm.y > factor * local]
    shared = together(jumps, high, near)
    accident = expected_together(len(jumps), int(high.size), near, float(grad_norm.x[-1] - grad_norm.x[0]))
    return None if shared < max(1, 0.5 * len(jumps)) or shared < 3 * accident else (shared, len(jumps))


def unclipped(case: Case, loss: Curve, jumps: list[Jump], share: float) -> bool:
    """Whether huge gradients reached the weights: they jump with the loss, which lost a part of its fall."""
    norm = case.grad_norm
    return norm is not None and felt(loss, jumps, share) and gradient_jumps(loss, norm) is not None


def expected_together(count: int, neighbours: int, reach: float, span: float) -> float:
    """How many would coincide by accident."""
    return count * min(1.0, neighbours * 2 * reach / span) if span > 0 else float(count)
