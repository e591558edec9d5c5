"""The entropy of the policy falls to almost nothing.

A policy without entropy does the same whatever happens: it explores no more and cannot find anything
better. A sign: in a task that is solved it is in order, in one whose reward stays low it tells why.
Seen when the entropy ends below {left_share} of its early level and stays there for the last third.

Silent outside reinforcement learning, with fewer than {min_points} values, and for differential entropies,
which are negative in good order.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Policy entropy gone", family="entropy")


def detect(case: Case, entropy: Curve, *, left_share: float = 0.02, min_points: int = 10) -> Detected:
    if "rl" not in case.traits:
        return Skipped("a policy: this is no reinforcement learning")
    early = float(entropy.y[: max(2, len(entropy) // 20)].max())
    if early <= 0 or entropy.y.min() < 0:
        return Skipped("an entropy of discrete actions")
    last = entropy.y[-(len(entropy) // 3) :]
    if float(last.max()) > left_share * early:
        return None
    above = np.flatnonzero(entropy.y > left_share * early)
    onset = float(entropy.x[int(above[-1]) + 1])
    sentence = (
        f"The entropy of the policy falls from {text(early)} to {text(float(np.median(last)))} and stays "
        f"below {text(left_share * early)} from {where(entropy, onset)} on: it always does the same."
    )
    numbers = {"entropy_first": early, "entropy_last": float(np.median(last))}
    return Finding(sentence, step=onset, end=float(entropy.x[-1]), numbers=numbers)


def fires() -> Runs:
    yield run({"entropy": decay(40, 0.7, 1e-5, rate=60), "reward": [-0.8] * 40}, traits=("rl",))


def silent() -> Runs:
    yield run({"entropy": noisy(decay(100, 1.4, 0.4), 0.05), "reward": [0.0] * 100}, traits=("rl",))
    yield run({"entropy": decay(40, 0.7, 1e-5, rate=60)})
    yield run({"entropy": np.linspace(2.0, -1.0, 50), "reward": [0.0] * 50}, traits=("rl",))
