"""Swings of the loss."""

import numpy as np

from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    Severity,
    stats,
)
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._settings import perhaps_tuned
from traindx.testing.sketch import decay, noisy, run


@Detector("Growing swings", family="swings", explains=("plateau",), guards=("surrogate",), harms="calm")
def oscillation_grows(
    loss: Curve,
    *,
    growth_factor: float = 3.0,
    swing_share: float = 0.3,
    share_of_start: float = 0.05,
    min_points: int = 40,
) -> Detected:
    """The swings of the loss grow.

    The size of the deviations from the smooth level is compared between the first and the last part of the
    curve: point-to-point jumps by quarters, or a swing with a period by thirds. Seen when it grew by
    {growth_factor} or more and ends large ({swing_share} of the level). Low where swings end under a
    twentieth of the first loss.

    Silent when swings shrink or stay, when the loss itself fell below half (relative noise always grows
    there), under {min_points} points, for reinforcement learning and GANs.
    """
    growing = [
        swing
        for swing in (_jumps(loss), _swings(loss))
        if swing is not None
        and swing[2] > 0
        and swing[1] >= max(growth_factor * swing[0], swing_share * swing[2])
    ]
    if not growing:
        return None
    early, late, level = growing[0]
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


@Detector(
    "Swings without progress",
    family="swings",
    explains=("loss_flat", "plateau"),
    guards=("surrogate", "resumed", "good", "improving"),
    counts_as="oscillation",
)
def swings_without_progress(
    case: Case,
    loss: Curve,
    *,
    scatter_share: float = 0.25,
    medium_share: float = 0.3,
    max_scatter: float = 1.0,
    min_points: int = 20,
) -> Detected:
    """The loss jumps about by a large part of its level and gets nowhere.

    Batches differ, so every loss scatters; a training whose steps are right makes progress under that
    scatter. Seen when the scatter from point to point is {scatter_share} of the level or more, over
    {min_points} values or more, and the loss neither came down from its first to its last third nor holds a
    lower level anywhere by more than that scatter's error.

    Silent where the loss falls, where a score says the model does well or rises, for reinforcement learning
    and GANs, and when the log begins in the middle of a training. Low where a trained model is tuned, which
    starts near what it can reach. So is it for scatter beyond {max_scatter} of the level: that is how losses
    of single samples with a heavy tail look, or a loss that is zero between jumps.
    """
    level = float(np.median(loss.y))
    scatters = level > 0 and scatter_share * level <= loss.noise <= max_scatter * level
    if not scatters:
        return None
    thirds = np.array_split(loss.y, 3)
    error = 1.25 * loss.noise * float(np.sqrt(2.0 * 3.0 / len(loss)))
    fall = float(np.median(thirds[0]) - np.median(thirds[2]))
    lowest = min(float(np.median(part)) for part in np.array_split(loss.y, 6))
    deeper = float(np.median(thirds[0])) - lowest > 4.0 * error
    if fall > 2.5 * error or deeper or loss.trend.z < -2.5:
        return None
    share = loss.noise / level
    low, high = (float(bound) for bound in np.quantile(loss.y, (0.1, 0.9)))
    return Finding(
        f"The loss jumps between {text(low)} and {text(high)} from point to point ({percent(share)} of its "
        f"level) over {len(loss):,} values and makes no progress: {text(float(np.median(thirds[0])))} in the "
        f"first third, {text(float(np.median(thirds[2])))} in the last.",
        "oscillation",
        "medium" if share >= medium_share and not perhaps_tuned(case) else "low",
        step=float(loss.x[0]),
        end=float(loss.x[-1]),
        strength=strength(share, scatter_share, 1.0),
        numbers={"swing": share},
    )


def cases() -> Cases:
    size = np.geomspace(0.01, 0.8, 200)
    yield from oscillation_grows.fires(
        run({"loss": np.abs(1.0 + size * np.random.default_rng(0).standard_normal(200))}),
        run(
            {
                "loss": noisy(1.0 + 0.02 * np.arange(60), 0.001)
                + np.geomspace(0.01, 1.5, 60) * (-1.0) ** np.arange(60)
            }
        ),
    )
    wave = 1.0 + np.geomspace(0.02, 0.8, 300) * np.sin(np.arange(300) / 3.0)
    yield from oscillation_grows.fires(run({"loss": wave}))
    yield from oscillation_grows.silent(run({"loss": noisy(decay(200, 3.0, 1.0), 0.3)}))
    yield from oscillation_grows.silent(run({"loss": noisy(decay(200, 3.0, 0.01), 0.2)}))
    jumps = np.random.default_rng(1).uniform(0.5, 1.9, 120)
    yield from swings_without_progress.fires(run({"loss": jumps}), run({"loss": jumps[:30]}, axis="epoch"))
    yield from swings_without_progress.silent(
        run({"loss": noisy(decay(300, 3.0, 1.0), 0.4)}),
        run({"loss": noisy([2.3] * 100, 0.05)}),
        run({"loss": noisy([1.0] * 100, 0.4), "val/accuracy": np.linspace(0.3, 0.8, 100)}),
    )
