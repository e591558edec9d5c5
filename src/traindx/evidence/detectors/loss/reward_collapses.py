"""The reward of a reinforcement learning rose, fell back, and did not return.

Compares the best tenth of the run with the last one, in typical values. Seen when {lost_share} of what was
gained over the first tenth is lost at the end, beyond the noise of both, and the last {low_share} of the run
never came back half of the way. A policy that changed too much in one update collapses like that.

Silent where the reward wanders back up, under {min_points} values, and for preference training, whose rewards
are implicit.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import strength, text, where
from traindx.testing.sketch import noisy, run

DETECTOR = Detector(title="Reward collapses", family="reward")


def detect(
    case: Case,
    reward: Curve,
    *,
    lost_share: float = 0.7,
    low_share: float = 0.2,
    z_score: float = 5.0,
    min_points: int = 30,
) -> Detected:
    if "preference" in case.traits:
        return Skipped("a reward that is given, not implied by the model")
    if len(reward) < min_points:
        return Skipped(f"at least {min_points} values of the reward")
    tenths = np.array_split(reward.y, 10)
    levels = [float(np.median(part)) for part in tenths]
    best = int(np.argmax(levels))
    gained, lost = levels[best] - levels[0], levels[best] - levels[-1]
    error = (
        1.25 * max(stats.noise(tenths[best]), stats.noise(tenths[-1])) * float(np.sqrt(2 / tenths[0].size))
    )
    if gained <= 0 or lost < lost_share * gained or lost < z_score * error:
        return None
    rest = reward.y[-max(3, int(low_share * len(reward))) :]
    if float(np.quantile(rest, 0.9)) > levels[best] - 0.5 * lost:
        return None
    half = levels[best] - 0.5 * lost
    above = np.flatnonzero(reward.y >= half)
    onset = float(reward.x[min(int(above[-1]) + 1, len(reward) - 1)])
    return Finding(
        f"The reward rose from {text(levels[0])} to {text(levels[best])}, fell at {where(reward, onset)} and "
        f"has not come back: {text(levels[-1])} at the end.",
        "divergence",
        "high",
        step=onset,
        end=float(reward.x[-1]),
        series=reward.name,
        strength=strength(lost / gained, lost_share, 1.0),
        numbers={"best": levels[best], "last_value": levels[-1]},
        marks=(onset,),
    )


def fires() -> Runs:
    course = [*np.linspace(80.0, 2300.0, 50), *np.full(30, 60.0)]
    yield run({"reward": noisy(course, 0.1)}, traits=("rl",))


def silent() -> Runs:
    rises = np.linspace(10.0, 200.0, 80)
    yield run({"reward": noisy(rises, 0.2)}, traits=("rl",))
    yield run({"reward": noisy([*rises, *np.full(20, 20.0), *np.full(60, 190.0)], 0.1)}, traits=("rl",))
    yield run({"reward": noisy(np.full(80, 5.0), 0.3)}, traits=("rl",))
