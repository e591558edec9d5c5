"""Steps hardly change the weights.

The mirror image of large steps: even in the look with the largest update ratio the typical layer changed by
less than {max_ratio} of itself in a step (0.001 is usual). At that pace the weights need more than tens of
thousands of steps to become others. It is trouble when the loss hardly came down.

Silent when the rate is 0, when half precision rounds the updates away (updates_lost), and once any look was
brisk: converged runs and decayed rates have small steps late, not always.
Known mistakes: fine-tuning by very small steps on purpose.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text
from traindx.evidence.detectors._updates import ratios
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Updates small relative to the weights",
    needs=("fact:models", "update_ratio/*"),
    family="update_ratio",
    harms="learning",
)


def detect(
    case: Case, *, max_ratio: float = 3e-5, min_samples: int = 3, rounded_share: float = 0.5
) -> Detected:
    steps, values = ratios(case, looks=min_samples)
    if values.size < min_samples:
        return Skipped(f"{min_samples} samples of what a step changes")
    rounded = [
        float(np.median(curve.y)) for curve in case.inside.layers("update_lost_share").values() if len(curve)
    ]
    if rounded and float(np.median(rounded)) >= rounded_share:
        return Skipped("updates that are not rounded away")
    highest = float(values.max())
    if not 0 < highest < max_ratio or not case.lr_value:
        return None
    at = float(steps[int(values.argmax())])
    return Finding(
        text=f"The largest step seen (step {at:g}) changes the typical layer by {text(highest)} of its size; "
        f"about 0.001 is usual. It takes {text(1 / highest)} such steps to change the weights by their size.",
        symptom="slow_convergence",
        severity="medium",
        step=at,
        strength=strength(max_ratio / highest, 1.0, 10.0),
        numbers={"update_ratio": highest, "lr": case.lr_value},
    )


def _ratios(values: list[float], losses: list[float]) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {f"update_ratio/{name}": values for name in (0, 2, 4)}
    facts = model([[32, 8], [32, 32], [4, 32]])
    return run({"loss": losses, **series}, settings={"lr": 1e-6}, facts=facts)


def fires() -> Runs:
    yield _ratios([1e-6] * 5, [1.6] * 40)


def silent() -> Runs:
    yield _ratios([0.001, 1e-6, 1e-6, 1e-7], list(decay(40, 2.0, 0.1)))
    yield _ratios([1e-4] * 5, [1.6] * 40)
    yield _ratios([0.0] * 5, [1.6] * 40)
