"""The entropy of a policy."""

from dataclasses import replace

import numpy as np

from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, FloatArray, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.detectors.loss.reinforcement import level_of
from traindx.testing.sketch import decay, noisy, run

# A rise of the reward that is none, as a share of the way from its worst to its best values.
_LITTLE_GAIN = 0.1


@Detector("Policy entropy gone", needs=("entropy|loss/entropy",), family="entropy")
def entropy_collapses(
    case: Case,
    *,
    left_share: float = 0.05,
    early_part: float = 0.6,
    reached_share: float = 0.75,
    min_points: int = 10,
) -> Detected:
    """The entropy of the policy falls to almost nothing.

    A policy without entropy does the same whatever happens: it explores no more and cannot find anything
    better. Seen when the entropy typically lies below {left_share:%} of its early level for the last third of
    the run. An entropy that is logged as a loss (its negative) counts as well.

    A sign where the task is solved; trouble where the entropy was gone within the first {early_part:%} of the
    run, the reward has gained nothing since, and its usual value lies below {reached_share:%} of the way from
    its worst to its best ones.

    Silent outside reinforcement learning, with fewer than {min_points} values, and for differential
    entropies, which are negative in good order.
    """
    if "rl" not in case.traits:
        return Skipped("a policy: this is no reinforcement learning")
    entropy = case.curve("entropy", "loss/entropy")
    if entropy is None or len(entropy) < max(3, min_points):
        return Skipped(f"at least {min_points} values of the entropy")
    values = entropy.y if entropy.name == "entropy" else -entropy.y
    early = float(values[: max(2, len(entropy) // 20)].max())
    if early <= 0 or values.min() < -left_share * early:
        return Skipped("an entropy of discrete actions")
    last = values[-(len(values) // 3) :]
    usual, high = (float(np.quantile(last, part)) for part in (0.5, 0.9))
    if usual > left_share * early or high > 2.0 * left_share * early:
        return None
    gone = _since_below(values, 2.0 * left_share * early)
    onset = float(entropy.x[gone])
    sentence = (
        f"The entropy of the policy falls from {text(early)} to {text(usual)} and stays "
        f"below {text(2.0 * left_share * early)} from {where(entropy, onset)} on: it always does the same."
    )
    numbers = {"entropy_first": early, "entropy_last": usual}
    finding = Finding(sentence, step=onset, end=float(entropy.x[-1]), numbers=numbers)
    reward = case.part_of("reward")
    stuck = gone <= early_part * len(values) and reward is not None and len(reward) >= 2 * min_points
    if reward is None or not stuck or not _gains_nothing(reward, onset, reached_share):
        return finding
    words = f"{sentence} The reward has gained nothing since: {text(float(np.median(reward.after(onset))))}."
    return replace(finding, text=words, symptom="plateau", severity="medium")


def _since_below(values: FloatArray, level: float) -> int:
    """The first place below a level after which at most a tenth lies above it."""
    above = np.cumsum((values > level)[::-1])[::-1] / np.arange(values.size, 0, -1)
    return int(((above <= 0.1) & (values <= level)).argmax())


def _gains_nothing(reward: Curve, since: float, share: float) -> bool:
    """Whether the reward is no better at the end than when the entropy was gone, and far from its best."""
    after = reward.after(since)
    if after.size < 12:
        return False
    first, last = level_of(after[: after.size // 3]), level_of(after[-(after.size // 3) :])
    low, high = (float(np.quantile(reward.y, part)) for part in (0.05, 0.95))
    gained = last[0] - first[0]
    risen = gained > max(3.0 * float(np.hypot(first[1], last[1])), _LITTLE_GAIN * (high - low))
    return not risen and float(np.median(after)) < low + share * (high - low)


def cases() -> Cases:
    gone = np.concatenate([decay(60, 1.9, 0.01, rate=12), np.zeros(240)])
    returns = noisy(
        np.concatenate([np.linspace(-50.0, 120.0, 60), np.full(240, 120.0)]), 90.0, relative=False
    )
    yield from entropy_collapses.fires(
        run({"entropy": gone, "reward": returns}, traits=("rl",)),
        run({"loss/entropy": -gone, "reward": returns}, traits=("rl",)),
    )
    yield from entropy_collapses.silent(
        run({"entropy": noisy(np.linspace(1.9, 0.4, 300), 0.05), "reward": returns}, traits=("rl",)),
        run({"entropy": gone}),
    )
    yield from entropy_collapses.fires(
        run({"entropy": decay(40, 0.7, 1e-5, rate=60), "reward": [-0.8] * 40}, traits=("rl",))
    )
    yield from entropy_collapses.silent(
        run({"entropy": noisy(decay(100, 1.4, 0.4), 0.05), "reward": [0.0] * 100}, traits=("rl",)),
        run({"entropy": decay(40, 0.7, 1e-5, rate=60)}),
        run({"entropy": np.linspace(2.0, -1.0, 50), "reward": [0.0] * 50}, traits=("rl",)),
    )
