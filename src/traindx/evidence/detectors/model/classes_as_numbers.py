"""Class numbers are fitted as if they were amounts.

Seen when a regression loss gets targets that are whole numbers from 0 to K - 1 in every look, K from
{min_classes} to {max_classes}, spread about as evenly as classes are, and one output for each sample; or K
outputs, each of which is compared with the one number.

Silent for zeros and ones, for ratings that begin at 1, for counts (most of them small) and for real targets.
Known mistakes: ordered grades from 0 on, for which it is a fair choice; so it is no more than probable.
"""

import numpy as np

from traindx.core.kinds import REGRESSION, loss_kind
from traindx.evidence.detector import Case, Detected, Detector, Fact, Finding, Runs, Skipped
from traindx.evidence.sampled import odd_objective, only_loss, sampled
from traindx.testing.sketch import run

DETECTOR = Detector(title="Classes fitted as numbers", needs=("fact:losses", "target/*"), family="loss_form")


def detect(
    case: Case, *, min_classes: int = 3, max_classes: int = 100, evenness: float = 0.25, min_samples: int = 3
) -> Detected:
    loss = only_loss(case)
    kinds, mean = sampled(case, "target/distinct", min_samples), sampled(case, "target/mean", min_samples)
    if loss is None or odd_objective(case) or loss_kind(loss) not in REGRESSION:
        return Skipped()
    if kinds is None or mean is None or len(kinds) < len(mean):
        return None
    low, high = sampled(case, "target/min", min_samples), sampled(case, "target/max", min_samples)
    spread = sampled(case, "target/std", min_samples)
    if low is None or high is None or spread is None or (low.y != low.y.round()).any():
        return None
    count = int(high.y.max()) + 1
    if not _one_output(loss) and not _stretched(loss, count):
        return None
    if low.y.min() != 0 or not min_classes <= count <= max_classes or kinds.y.max() < 0.8 * min(count, 20):
        return None
    # Evenly spread numbers from 0 to K - 1 have their mean in the middle and this deviation.
    middle, expected = (count - 1) / 2, float(np.sqrt((count**2 - 1) / 12))
    uneven = abs(float(np.median(mean.y)) - middle) / count + abs(float(np.median(spread.y)) / expected - 1)
    if uneven > evenness:
        return None
    sentence = (
        f"{loss['function']} fits the whole numbers 0 to {count - 1}, evenly spread, as classes are: a class "
        f"{count - 1} is not {count - 1} times a class 1."
    )
    return Finding(sentence, "silent_defect", "medium", numbers={"classes": count})


def _one_output(loss: Fact) -> bool:
    parts = str(loss.get("output_shape", "")).split("x")
    return len(parts) == 1 or (len(parts) == 2 and parts[1] == "1")


def _stretched(loss: Fact, count: int) -> bool:
    """Whether an output for each class is compared with the same number."""
    given, wanted = (str(loss.get(key, "")).split("x") for key in ("output_shape", "target_shape"))
    return given[1:] == [str(count)] and wanted in ([given[0], "1"], [given[0]])


def fires() -> Runs:
    told = {"target/min": [0.0] * 4, "target/max": [9.0] * 4, "target/distinct": [10.0] * 4}
    loss = {"function": "mse_loss", "output_shape": "64x1"}
    yield run({**told, "target/mean": [4.4] * 4, "target/std": [2.9] * 4}, facts={"losses": [loss]})
    wide = {"function": "mse_loss", "output_shape": "64x10", "target_shape": "64x1"}
    yield run({**told, "target/mean": [4.4] * 4, "target/std": [2.9] * 4}, facts={"losses": [wide]})


def silent() -> Runs:
    loss = {"function": "mse_loss", "output_shape": "64"}
    real = {
        "target/min": [-2.0] * 4,
        "target/max": [9.1] * 4,
        "target/mean": [4.4] * 4,
        "target/std": [3.0] * 4,
    }
    yield run(real, facts={"losses": [loss]})
    several = {"function": "mse_loss", "output_shape": "64x6", "target_shape": "64x1"}
    grid = {"target/min": [0.0] * 4, "target/max": [9.0] * 4, "target/distinct": [10.0] * 4}
    yield run({**grid, "target/mean": [4.4] * 4, "target/std": [2.9] * 4}, facts={"losses": [several]})
    counts = {"target/min": [0.0] * 4, "target/max": [12.0] * 4, "target/distinct": [9.0] * 4}
    yield run({**counts, "target/mean": [1.4] * 4, "target/std": [1.9] * 4}, facts={"losses": [loss]})
    ratings = {"target/min": [1.0] * 4, "target/max": [5.0] * 4, "target/distinct": [5.0] * 4}
    yield run({**ratings, "target/mean": [3.0] * 4, "target/std": [1.4] * 4}, facts={"losses": [loss]})
