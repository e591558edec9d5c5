"""Each step changes the weights by a large part of themselves.

The update ratio is the size of what a step changed beside the size of the weights: about 0.001 is usual,
0.01 is brisk. Seen when the typical layer changes by {early_ratio} of itself in one of the first looks, or by
{lasting_ratio} in the middle one: then what was learned is overwritten each step. Large steps are the direct
measure of a learning rate too high, whatever the optimizer.

It is trouble when the loss does not come down, else a sign. Layers that start next to 0 are left out: they
must grow.
Silent with less than {min_samples} looks, for models of a handful of weights, and when the first step was of
ordinary size ({first_ratio}): then something struck later, a batch or a spike.
Known mistakes: very small models (a handful of weights) trained briskly on purpose.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._layers import matrices
from traindx.evidence.detectors._number_text import percent, strength
from traindx.evidence.detectors._updates import ratios
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Updates large relative to the weights",
    needs=("fact:models", "update_ratio/*"),
    family="update_ratio",
    harms="learning",
)


def detect(
    case: Case,
    *,
    early_ratio: float = 0.4,
    lasting_ratio: float = 0.1,
    first_ratio: float = 0.02,
    min_samples: int = 2,
    min_weights: int = 200,
) -> Detected:
    steps, values = ratios(case, looks=min_samples)
    if values.size < min_samples or sum(one.elements for one in matrices(case)) < min_weights:
        return Skipped(f"{min_samples} samples of what a step changes in {min_weights} weights or more")
    peak, usual = float(values[:5].max()), float(np.median(values))
    if values[0] < first_ratio or (peak < early_ratio and usual < lasting_ratio):
        return None
    at = float(steps[int(values[:5].argmax())])
    return Finding(
        text=f"A step changes the typical layer by {percent(peak)} of its size at step {at:g} and by "
        f"{percent(usual)} in the middle of {values.size} samples; 0.1 % is usual.",
        symptom="not_learning",
        severity="medium",
        step=at,
        strength=max(strength(peak, early_ratio, 3.0), strength(usual, lasting_ratio, 0.5)),
        numbers={"update_ratio": usual, "update_ratio_peak": peak},
    )


def _ratios(values: list[float], gain: float = 0.577) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {f"update_ratio/{name}": values for name in (0, 2, 4)}
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]], gain=gain))


def fires() -> Runs:
    yield _ratios([5.0, 0.9, 0.6, 0.5, 0.4])
    yield _ratios([0.2] * 6)


def silent() -> Runs:
    yield _ratios([0.02, 0.01, 0.008, 0.005])
    yield _ratios([9.0, 0.5, 0.1, 0.05, 0.02], gain=0.001)
