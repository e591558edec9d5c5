"""Rewards."""

import numpy as np

from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    FloatArray,
    Severity,
    Skipped,
    stats,
)
from traindx.evidence.detectors._number_text import strength, text, where
from traindx.testing.sketch import decay, noisy, run

# Value targets that moved: so many times as far from 0, in so many samples.
_FAR, _SAMPLES = 5.0, 8


@Detector("Reward never rises", family="reward")
def reward_flat(
    case: Case,
    reward: Curve,
    *,
    min_points: int = 8,
    long_run: int = 60,
    clear_run: int = 24,
    clear_z: float = 4.0,
    equal_share: float = 0.98,
    z_score: float = 3.0,
    fall_z_score: float = 6.0,
) -> Detected:
    """The reward of a reinforcement learning never rises.

    Two forms. *Constant*: the reward is the same to the last digit from the first value on, so that there is
    nothing to learn from: every action is worth the same, or the policy has become one action. *No rise*:
    over a long run ({long_run} values) no stretch lies above the start by more than the noise; when it ends
    clearly below its start, of medium severity, else low, since rewards may take long to come. A clear fall
    ({clear_z} standard errors) shows within {clear_run} values; half as clear a one where the targets of a
    value function moved far at the same time: it learns, and the policy does not.

    Silent when any stretch of the run was clearly better than the start, with fewer than {min_points}
    values, and for preference training, whose rewards are implicit. Known mistakes: a policy that is perfect
    from the start has a constant reward (at exactly 1 or 100 it is told as low).
    """
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
        values = _value_targets(case)
        if len(reward) < clear_run or not _declines(reward, clear_z if values is None else 0.5 * clear_z):
            return Skipped(f"at least {long_run} values of a reward that varies")
        ends = [
            float(np.median(part)) for part in (reward.y[: len(reward) // 3], reward.y[-len(reward) // 3 :])
        ]
        words = (
            f"The reward falls in {len(reward):,} values: {text(ends[0])} in the first third, "
            f"{text(ends[1])} in the last" + ("." if values is None else f", while {values}.")
        )
        return _finding(reward, words, "medium", 0.8)
    tenths = np.array_split(reward.y, 10)
    first = np.concatenate(tenths[:1])
    start, error = level_of(first)
    levels = [level_of(part) for part in tenths[1:]]
    if (
        any(level - start > z_score * float(np.hypot(error, e)) for level, e in levels)
        or reward.trend.z > 2.0
    ):
        return None
    # With one rare success in a long run the noise hides everything.
    end, end_error = level_of(tenths[-1])
    fell = start - end > fall_z_score * float(np.hypot(error, end_error)) and reward.trend.z < -4.0
    spread = float(np.ptp(reward.y)) or 1.0
    clear = fell and start - end > 0.2 * spread
    words = (
        f"The reward does not rise in {len(reward):,} values: {text(start)} in the first tenth, {text(end)} "
        f"in the last, and at best {text(max(level for level, _ in levels))} in between."
    )
    return _finding(reward, words, "medium" if clear else "low", 0.8 if clear else 0.4)


def _value_targets(case: Case) -> str | None:
    """How far the targets of a value function moved; None where they did not, or were not recorded."""
    for name in case.names:
        curve = case.curve(name) if name.startswith("target") and name.endswith("/mean") else None
        if curve is None or len(curve) < _SAMPLES:
            continue
        first, last = float(np.median(curve.y[:3])), float(np.median(curve.y[-3:]))
        if abs(last) >= _FAR * max(abs(first), 1e-6):
            return f"its value targets went from {text(first)} to {text(last)}"
    return None


def _declines(reward: Curve, z_score: float) -> bool:
    """Whether the last third lies clearly below the first, and no third in between above it."""
    first, middle, last = (level_of(part) for part in np.array_split(reward.y, 3))
    spread = float(np.ptp(reward.y)) or 1.0
    fell = first[0] - last[0]
    clear = fell > z_score * float(np.hypot(first[1], last[1])) and fell > 0.2 * spread
    return clear and middle[0] <= first[0] and reward.trend.z < -0.6 * z_score


def level_of(values: FloatArray) -> tuple[float, float]:
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


@Detector("Reward collapses", family="reward")
def reward_collapses(
    case: Case,
    reward: Curve,
    *,
    lost_share: float = 0.7,
    low_share: float = 0.2,
    z_score: float = 5.0,
    min_points: int = 30,
) -> Detected:
    """The reward of a reinforcement learning rose, fell back, and did not return.

    Compares the best tenth of the run with the last one, in typical values. Seen when {lost_share} of what
    was gained over the first tenth is lost at the end, beyond the noise of both, and the last {low_share} of
    the run never came back half of the way. A policy that changed too much in one update collapses like
    that.

    Silent where the reward wanders back up, under {min_points} values, and for preference training, whose
    rewards are implicit.
    """
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
    if not 0 < gained < np.inf or lost < lost_share * gained or lost < z_score * error:
        return None
    late = reward.y[-max(3, int(low_share * len(reward))) :]
    if float(np.quantile(late, 0.9)) > levels[best] - 0.5 * lost:
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
        strength=strength(lost / gained, lost_share, 1.0),
        numbers={"best": levels[best], "last_value": levels[-1]},
        marks=(onset,),
    )


def cases() -> Cases:
    yield from reward_flat.fires(
        run({"reward": [-0.8] * 40, "loss": [0.0] * 40}, traits=("rl",)),
        run({"reward": [0.0] * 10}, traits=("rl",)),
        run({"reward": noisy([20.0] * 300, 0.1)}, traits=("rl",)),
        run({"reward": noisy(np.linspace(20.0, 5.0, 300), 0.5, relative=False)}, traits=("rl",)),
    )
    worse = noisy([*np.linspace(16.0, 12.0, 12), *[10.5] * 18], 0.1)
    targets = {"target/mean": np.geomspace(1.0, 900.0, 20)}
    yield from reward_flat.fires(run({"reward": worse, **targets}, traits=("rl",)))
    yield from reward_flat.silent(run({"reward": worse[::-1], **targets}, traits=("rl",)))
    rising = noisy(1.0 - decay(200, 1.0, 0.0), 0.1, relative=False)
    yield from reward_flat.silent(run({"reward": rising}, traits=("rl",)))
    yield from reward_flat.silent(
        run({"reward": [*(1.0 - decay(50, 1.0, 0.0)), *[1.0] * 100]}, traits=("rl",))
    )
    yield from reward_flat.silent(run({"reward": [0.0, 0.5, 0.2]}, traits=("rl",)))
    yield from reward_flat.silent(run({"reward": noisy([0.3] * 40, 0.5)}, traits=("rl",)))
    risen = np.concatenate([np.linspace(0.0, 5.0, 100), np.linspace(5.0, 0.0, 100)])
    yield from reward_flat.silent(run({"reward": noisy(risen, 0.1, relative=False)}, traits=("rl",)))
    course = [*np.linspace(80.0, 2300.0, 50), *np.full(30, 60.0)]
    yield from reward_collapses.fires(run({"reward": noisy(course, 0.1)}, traits=("rl",)))
    rises = np.linspace(10.0, 200.0, 80)
    yield from reward_collapses.silent(
        run({"reward": noisy(rises, 0.2)}, traits=("rl",)),
        run({"reward": noisy([*rises, *np.full(20, 20.0), *np.full(60, 190.0)], 0.1)}, traits=("rl",)),
        run({"reward": noisy(np.full(80, 5.0), 0.3)}, traits=("rl",)),
    )
