"""The gradient norm jumps by orders of magnitude.

Compares every norm with the usual size: the median of the run or of its first third, whichever is
smaller, and for the first steps with what came before, so that the large norms of a fresh model do not
count. Trouble when it jumps {factor} times and the loss ends clearly above where it was. A jump of
{factor_without_harm} times that the loss does not mind (clipping caught it) is a sign only.

Silent about norms in loss-scaler units (grad_scaled).
Known mistakes: a rise when learning sets in after a long flat start; the loss then falls, so it is a sign.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._gradients import loss_harm, positive, scaled
from traindx.evidence.detectors._number_text import strength, text, times, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Gradients explode", family="gradient_size")


def detect(
    case: Case,
    grad_norm: Curve,
    *,
    factor: float = 30.0,
    factor_without_harm: float = 100.0,
    min_harm: float = 0.2,
    min_points: int = 8,
) -> Detected:
    steps, sizes = positive(grad_norm)
    if sizes.size < min_points:
        return Skipped(f"at least {min_points} values of the gradient norm")
    if scaled(case):
        return Skipped("gradient norms that are not multiplied by the loss scale")
    usual = min(float(np.median(sizes)), float(np.median(sizes[: max(3, sizes.size // 3)])))
    lowest_before = np.minimum.accumulate(np.concatenate([sizes[:1], sizes[:-1]]))
    ratios = sizes / np.maximum(lowest_before, usual)
    jumps = np.flatnonzero(ratios >= factor)
    if not jumps.size:
        return None
    onset, top = float(steps[jumps[0]]), int(ratios.argmax())
    hurt = loss_harm(case, onset)
    harmful = hurt is not None and hurt > min_harm
    if not harmful and ratios[top] < factor_without_harm:
        return None
    sustained = float(np.median(sizes[-max(3, sizes.size // 10) :])) >= factor_without_harm * usual
    trouble = harmful or (hurt is None and sustained)
    phrase = f", and the loss ends {times(1 + hurt)} its level before" if harmful and hurt is not None else ""
    return Finding(
        text=f"The gradient norm jumps {times(float(ratios[top]))} above its usual {text(usual)}: "
        f"{text(float(sizes[top]))} at {where(grad_norm, float(steps[top]))}{phrase}.",
        symptom="exploding_gradients" if trouble else None,
        severity="high" if harmful else "medium" if trouble else "low",
        step=onset,
        strength=strength(float(ratios[top]), factor, 10 * factor_without_harm) if trouble else 0.5,
        numbers={"grad_norm": usual, "grad_peak": float(sizes[top]), "onset": onset, "clip_new": 2 * usual},
        marks=tuple(float(step) for step in steps[jumps[:20]]),
    )


def fires() -> Runs:
    burst = noisy([0.5] * 60, 0.3)
    burst[10:16] = [600.0, 50.0, 30.0, 700.0, 40.0, 100.0]
    loss = noisy(np.where(np.arange(60) < 10, 1.4, 7.5), 0.03)
    yield run({"grad_norm": burst, "loss": loss})
    lone = noisy([0.5] * 200, 0.3)
    lone[90] = 300.0
    yield run({"grad_norm": lone, "loss": noisy([1.0] * 200, 0.03)})
    yield run({"grad_norm": np.where(np.arange(100) < 50, 1.0, 1e6)})


def silent() -> Runs:
    yield run({"grad_norm": noisy(decay(500, 40.0, 0.3, rate=100), 0.3)})
    spike = noisy([0.6] * 200, 0.5)
    spike[50] = 43.0
    yield run({"grad_norm": spike}, traits=("rl",))
    yield run({"grad_norm": noisy([2e5] * 300, 0.8), "loss": decay(300, 5.0, 0.1)})
