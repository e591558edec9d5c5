"""Batches hold one class each, while the data hold several: the samples come sorted by class.

Seen when batches of at least {min_batch_size} are of one class, or nearly, in most looks, and the targets of
all looks together are not. Also when real-valued targets hardly vary within a batch but much between batches.

Silent for shuffled loaders and unequal classes. For real targets it is a sign: series in time come so by
nature. Known mistakes: groups that belong together in one batch on purpose.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.sampled import odd_objective, sampled, training_loader
from traindx.testing.sketch import run

DETECTOR = Detector(title="Labels in order", needs=("target/*",), family="data_order")


def detect(
    case: Case,
    *,
    top_class_share: float = 0.9,
    max_class_share: float = 0.7,
    min_batch_size: int = 8,
    min_samples: int = 4,
    target_spread_share: float = 0.15,
) -> Detected:
    top = sampled(case, "target/top_share", min_samples)
    size = _batch(case)
    if size is None or size < min_batch_size or odd_objective(case):
        return Skipped(f"batches of at least {min_batch_size}")
    if top is None:
        return _of_numbers(case, min_samples, target_spread_share)
    shares = case.task.class_shares
    if len(shares) < 2 or max(shares.values()) > max_class_share:
        return None if len(shares) > 1 else Skipped()
    level = float(np.median(top.y))
    if level < top_class_share or (training_loader(case) or {}).get("shuffle") is True:
        return None
    sentence = (
        f"Batches of {size:g} are of one class ({percent(level)} on the median), while the largest class "
        f"holds {percent(max(shares.values()))} of the targets: the samples come sorted."
    )
    return Finding(sentence, "silent_defect", "high", numbers={"top_share": level})


def _of_numbers(case: Case, looks: int, narrow: float) -> Detected:
    mean, spread = sampled(case, "target/mean", looks), sampled(case, "target/std", looks)
    if mean is None or spread is None:
        return Skipped(f"at least {looks} samples of targets")
    within, between = float(np.median(spread.y)), float(mean.y.std())
    if between <= 0 or within > narrow * between:
        return None
    return Finding(
        f"Targets vary by {text(within)} within a batch and by {text(between)} between batches: they come in "
        "order."
    )


def _batch(case: Case) -> float | None:
    for loss in case.inside.losses:
        first = str(loss.get("target_shape", "")).split("x")[0]
        if first.isdigit():
            return float(first)
    return case.number("batch_size")


def fires() -> Runs:
    facts = {"losses": [{"target_shape": "32"}], "classes": {"0": 96, "1": 64, "2": 64}}
    yield run({"target/top_share": [1.0, 1.0, 1.0, 0.7, 1.0, 1.0]}, facts=facts)
    numbers = {"target/mean": [0.0, 2.0, 4.0, 6.0, 8.0], "target/std": [0.1] * 5}
    yield run(numbers, facts={"losses": [{"target_shape": "32"}]})


def silent() -> Runs:
    facts = {"losses": [{"target_shape": "32"}], "classes": {"0": 96, "1": 64, "2": 64}}
    yield run({"target/top_share": [0.4, 0.5, 0.45, 0.5, 0.4]}, facts=facts)
    unequal = {"losses": [{"target_shape": "32"}], "classes": {"0": 190, "1": 4}}
    yield run({"target/top_share": [1.0, 0.97, 1.0, 1.0, 1.0]}, facts=unequal)
    small = {"losses": [{"target_shape": "1"}], "classes": {"0": 3, "1": 3}}
    yield run({"target/top_share": [1.0] * 6}, facts=small)
