"""The swings of the loss grow.

The size of the deviations from the smooth level is compared between the first and the last part of the curve:
point-to-point jumps by quarters, or a swing with a period by thirds. Seen when it grew by {growth_factor} or
more and ends large ({swing_share} of the level). Low where swings end under a twentieth of the first loss.

Silent when swings shrink or stay, when the loss itself fell below half (relative noise always grows there),
under {min_points} points, for reinforcement learning and GANs.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Severity, stats
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Growing swings", family="swings", explains=("plateau",), guards=("surrogate",))


def detect(
    loss: Curve,
    *,
    growth_factor: float = 3.0,
    swing_share: float = 0.3,
    share_of_start: float = 0.05,
    min_points: int = 40,
) -> Detected:
    seen = [
        found
        for found in (_jumps(loss), _swings(loss))
        if found is not None
        and found[2] > 0
        and found[1] >= max(growth_factor * found[0], swing_share * found[2])
    ]
    if not seen:
        return None
    early, late, level = seen[0]
    severity: Severity = "medium" if late / early < 3 * growth_factor else "high"
    if late < share_of_start * abs(loss.head):
        severity = "low"
    text = (
        f"The swings of the loss grew {late / early:.3g} times, from {early:.3g} to {late:.3g}, "
        f"{late / level:.0%} of its level."
    )
    onset = float(loss.x[len(loss) // 2])
    return Finding(
        text, "oscillation", severity, onset, float(loss.x[-1]), loss.name, numbers={"growth": late / early}
    )


def _jumps(loss: Curve) -> tuple[float, float, float] | None:
    """Noise from point to point, early and late, and the level at the end; None unless it rises."""
    parts = np.array_split(loss.y[len(loss) // 10 :], 4)
    sizes = [stats.noise(part) for part in parts]
    levels = [abs(float(np.median(part))) for part in parts]
    if not sizes[3] > sizes[2] > sizes[1] or levels[3] < 0.5 * levels[0]:
        return None
    return max(min(sizes[:2]), 1e-300), sizes[3], levels[3]


def _swings(loss: Curve) -> tuple[float, float, float] | None:
    """A swing with a period: its early and late size, and the level."""
    values = loss.y if len(loss) <= 1000 else loss.coarse.median
    swing = stats.oscillation(values)
    if swing.p > 1e-3 or not swing.growth > 0:
        return None
    late = swing.amplitude * 2 * swing.growth / (1 + swing.growth)
    return late / swing.growth, late, abs(float(np.median(values)))


def fires() -> Runs:
    size = np.geomspace(0.01, 0.8, 200)
    yield run({"loss": np.abs(1.0 + size * np.random.default_rng(0).standard_normal(200))})
    yield run(
        {
            "loss": noisy(1.0 + 0.02 * np.arange(60), 0.001)
            + np.geomspace(0.01, 1.5, 60) * (-1.0) ** np.arange(60)
        }
    )
    wave = 1.0 + np.geomspace(0.02, 0.8, 300) * np.sin(np.arange(300) / 3.0)
    yield run({"loss": wave})


def silent() -> Runs:
    yield run({"loss": noisy(decay(200, 3.0, 1.0), 0.3)})
    yield run({"loss": noisy(decay(200, 3.0, 0.01), 0.2)})
