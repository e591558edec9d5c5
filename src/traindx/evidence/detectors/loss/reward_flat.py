"""The reward of a reinforcement learning never rises.

Two forms. *Constant*: the reward is the same to the last digit from the first value on, so that there is
nothing to learn from: every action is worth the same, or the policy has become one action. *No rise*: over
a long run ({long_run} values) no stretch lies above the start by more than the noise; when it ends clearly
below its start, of medium severity, else low, since rewards may take long to come.

Silent when any stretch of the run was clearly better than the start, with fewer than {min_points} values, and
for preference training, whose rewards are implicit.
Known mistakes: a policy that is perfect from the start has a constant reward (at exactly 1 or 100 it is
told as low).
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Severity, Skipped, stats
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Reward never rises", family="reward")


def detect(
    case: Case,
    reward: Curve,
    *,
    min_points: int = 15,
    long_run: int = 60,
    equal_share: float = 0.98,
    z_score: float = 3.0,
    fall_z_score: float = 6.0,
) -> Detected:
    if "preference" in case.traits:
        return Skipped("a reward that is given, not implied by the model")
    middle = float(np.median(reward.y))
    equal = float((np.abs(reward.y - middle) <= 1e-9 * abs(middle)).mean())
    if equal == 1.0 or (equal >= equal_share and len(reward) >= long_run):
        words = (
            f"The reward is {middle:.6g} in {equal:.0%} of its {len(reward):,} values, from the first on: "
            "there is nothing to learn from."
        )
        return _finding(reward, words, "low" if middle in (1.0, 100.0) else "medium", 1.0)
    if len(reward) < long_run:
        return Skipped(f"at least {long_run} values of a reward that varies")
    tenths = np.array_split(reward.y, 10)
    first = np.concatenate(tenths[:1])
    start, error = _level(first)
    levels = [_level(part) for part in tenths[1:]]
    if (
        any(level - start > z_score * float(np.hypot(error, e)) for level, e in levels)
        or reward.trend.z > 2.0
    ):
        return None
    # With one rare success in a long run the noise hides everything.
    end, end_error = _level(tenths[-1])
    fell = start - end > fall_z_score * float(np.hypot(error, end_error)) and reward.trend.z < -4.0
    spread = float(np.ptp(reward.y)) or 1.0
    clear = fell and start - end > 0.2 * spread
    words = (
        f"The reward does not rise in {len(reward):,} values: {text(start)} in the first tenth, {text(end)} "
        f"in the last, and at best {text(max(level for level, _ in levels))} in between."
    )
    return _finding(reward, words, "medium" if clear else "low", 0.8 if clear else 0.4)


def _level(values: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> tuple[float, float]:
    """The mean of a stretch and its error."""
    spread = max(float(values.std()), stats.noise(values))
    return float(values.mean()), spread / float(np.sqrt(values.size))


def _finding(reward: Curve, words: str, severity: Severity, strength: float) -> Finding:
    first = float(reward.x[0])
    return Finding(
        f"{words[:-1]} ({where(reward, first)} to {where(reward, float(reward.x[-1]))}).",
        "not_learning",
        severity,
        step=first,
        end=float(reward.x[-1]),
        series=reward.name,
        strength=strength,
        numbers={"first_value": float(reward.y[0]), "last_value": float(reward.y[-1])},
    )


def fires() -> Runs:
    yield run({"reward": [-0.8] * 40, "loss": [0.0] * 40}, traits=("rl",))
    yield run({"reward": noisy([20.0] * 300, 0.1)}, traits=("rl",))
    yield run({"reward": noisy(np.linspace(20.0, 5.0, 300), 0.5, relative=False)}, traits=("rl",))


def silent() -> Runs:
    rising = noisy(1.0 - decay(200, 1.0, 0.0), 0.1, relative=False)
    yield run({"reward": rising}, traits=("rl",))
    yield run({"reward": [*(1.0 - decay(50, 1.0, 0.0)), *[1.0] * 100]}, traits=("rl",))
    yield run({"reward": [0.0, 0.5, 0.2]}, traits=("rl",))
    yield run({"reward": noisy([0.3] * 40, 0.5)}, traits=("rl",))
    risen = np.concatenate([np.linspace(0.0, 5.0, 100), np.linspace(5.0, 0.0, 100)])
    yield run({"reward": noisy(risen, 0.1, relative=False)}, traits=("rl",))
