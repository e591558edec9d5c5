"""The swings of the loss grow.

The size of the deviations from the smooth level is compared between the first and the last part of the
curve, relative to the level. Seen when it grew by `growth` or more, significantly, and ends large
(`swing` of the level).

Silent when the level itself rises (divergence is told by itself), when swings shrink or stay, under 40
points, for reinforcement learning and GANs, and for losses near zero where relative noise always grows.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx import signal
from traindx.case import Case
from traindx.core import Finding, Run, Severity, Skipped
from traindx.units import Detector

DETECTOR = Detector(title="Growing swings", needs=("loss",), family="swings", explains=("plateau",))


def detect(
    case: Case, *, growth: float = 3.0, swing: float = 0.3, points: int = 40
) -> Finding | Skipped | None:
    loss = case.loss
    if loss is None or len(loss) < points:
        return Skipped(f"at least {points} values of the training loss")
    if case.surrogate:
        return Skipped("a loss that measures progress (RL and GAN losses do not)")
    parts = np.array_split(loss.y[len(loss) // 10 :], 4)
    sizes = [signal.noise(part) for part in parts]
    levels = [abs(float(np.median(part))) for part in parts]
    early, late = max(min(sizes[:2]), 1e-300), sizes[3]
    rising = sizes[3] > sizes[2] > sizes[1]
    if not levels[3] > 0 or late / early < growth or not rising or late / levels[3] < swing:
        return None
    if levels[3] < 0.5 * levels[0]:
        return None
    severity: Severity = "medium" if late / early < 3 * growth else "high"
    text = (
        f"The swings of the loss grew {late / early:.3g} times, from {early:.3g} to {late:.3g}, "
        f"{late / levels[3]:.0%} of its level."
    )
    onset = float(loss.x[len(loss) // 2])
    return Finding(
        text, "oscillation", severity, onset, float(loss.x[-1]), loss.name, numbers={"growth": late / early}
    )


def fires() -> Iterator[Run]:
    from traindx.sketch import noisy, run

    size = np.geomspace(0.01, 0.8, 200)
    yield run({"loss": np.abs(1.0 + size * np.random.default_rng(0).standard_normal(200))})
    yield run(
        {
            "loss": noisy(1.0 + 0.02 * np.arange(60), 0.001)
            + np.geomspace(0.01, 1.5, 60) * (-1.0) ** np.arange(60)
        }
    )


def silent() -> Iterator[Run]:
    from traindx.sketch import decay, noisy, run

    yield run({"loss": noisy(decay(200, 3.0, 1.0), 0.3)})
    yield run({"loss": noisy(decay(200, 3.0, 0.01), 0.2)})
