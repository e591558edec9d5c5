"""The size of the updates next to the weights."""

import numpy as np

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Run, Skipped
from traindx.evidence.detectors._layers import matrices, model
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._updates import ratios
from traindx.testing.sketch import decay, run


@Detector(
    "Updates large relative to the weights",
    needs=("fact:models", "update_ratio/*"),
    family="update_ratio",
    harms="learning",
)
def updates_large(
    case: Case,
    *,
    early_ratio: float = 0.4,
    lasting_ratio: float = 0.1,
    first_ratio: float = 0.02,
    min_samples: int = 2,
    min_weights: int = 200,
) -> Detected:
    """Each step changes the weights by a large part of themselves.

    The update ratio is the size of what a step changed beside the size of the weights: about 0.001 is usual,
    0.01 is brisk. Seen when the typical layer changes by {early_ratio} of itself in one of the first looks,
    or by {lasting_ratio} in the middle one: then what was learned is overwritten each step. Large steps are
    the direct measure of a learning rate too high, whatever the optimizer.

    It is trouble when the loss does not come down, else a sign. Layers that start next to 0 are left out:
    they must grow. Silent with less than {min_samples} looks, for models of a handful of weights, and when
    the first step was of ordinary size ({first_ratio}): then something struck later, a batch or a spike.
    Known mistakes: very small models (a handful of weights) trained briskly on purpose.
    """
    steps, values = ratios(case, least=min_samples)
    if values.size < min_samples or sum(matrix.elements for matrix in matrices(case)) < min_weights:
        return Skipped(f"{min_samples} samples of what a step changes in {min_weights} weights or more")
    peak, usual = float(values[:5].max()), float(np.median(values))
    if values[0] < first_ratio or (peak < early_ratio and usual < lasting_ratio):
        return None
    at = float(steps[int(values[:5].argmax())])
    return Finding(
        text=f"A step changes the typical layer by {percent(peak)} of its size at step {at:g} and by "
        f"{percent(usual)} in the middle of {values.size} samples; 0.1 % is usual.",
        symptom="not_learning",
        step=at,
        strength=max(strength(peak, early_ratio, 3.0), strength(usual, lasting_ratio, 0.5)),
        numbers={"update_ratio": usual, "update_ratio_peak": peak},
    )


def _ratios(values: list[float], gain: float = 0.577) -> Run:
    series = {f"update_ratio/{name}": values for name in (0, 2, 4)}
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]], gain=gain))


@Detector(
    "Updates small relative to the weights",
    needs=("fact:models", "update_ratio/*"),
    family="update_ratio",
    harms="learning",
)
def updates_small(
    case: Case, *, max_ratio: float = 3e-5, min_samples: int = 3, rounded_share: float = 0.5
) -> Detected:
    """Steps hardly change the weights.

    The mirror image of large steps: even in the look with the largest update ratio the typical layer changed
    by less than {max_ratio} of itself in a step (0.001 is usual). At that pace the weights need more than
    tens of thousands of steps to become others. It is trouble when the loss hardly came down.

    Silent when the rate is 0, when half precision rounds the updates away (updates_lost), and once any look
    was brisk: converged runs and decayed rates have small steps late, not always. Known mistakes:
    fine-tuning by very small steps on purpose.
    """
    steps, values = ratios(case, least=min_samples)
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
        step=at,
        strength=strength(max_ratio / highest, 1.0, 10.0),
        numbers={"update_ratio": highest, "lr": case.lr_value},
    )


def _ratios_updates_small(values: list[float], losses: list[float]) -> Run:
    series = {f"update_ratio/{name}": values for name in (0, 2, 4)}
    facts = model([[32, 8], [32, 32], [4, 32]])
    return run({"loss": losses, **series}, settings={"lr": 1e-6}, facts=facts)


def cases() -> Cases:
    yield from updates_large.fires(_ratios([5.0, 0.9, 0.6, 0.5, 0.4]), _ratios([0.2] * 6))
    yield from updates_large.silent(_ratios([0.02, 0.01, 0.008, 0.005]))
    yield from updates_large.silent(_ratios([9.0, 0.5, 0.1, 0.05, 0.02], gain=0.001))
    yield from updates_small.fires(_ratios_updates_small([1e-6] * 5, [1.6] * 40))
    yield from updates_small.silent(
        _ratios_updates_small([0.001, 1e-6, 1e-6, 1e-7], list(decay(40, 2.0, 0.1)))
    )
    yield from updates_small.silent(_ratios_updates_small([1e-4] * 5, [1.6] * 40))
    yield from updates_small.silent(_ratios_updates_small([0.0] * 5, [1.6] * 40))
