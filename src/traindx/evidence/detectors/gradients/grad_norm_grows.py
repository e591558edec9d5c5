"""The gradient norm grows over a long stretch.

Takes the lowest level the norm held and the level it ends at; seen when it grew at least {factor} times and
the climb between is significant against the norm's own noise. The norm of many healthy trainings rises
slowly, of language models above all: below {large_factor} times this is a sign only. From there on it is
exploding gradients, of low severity while the loss goes on well and of medium severity when the loss has
turned up.

Silent about norms in loss-scaler units (grad_scaled) and about the fall from the first steps.
Known mistakes: norms grow by nature when a model memorises and when warm-up lifts it off a plateau.
"""

from math import exp, log

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._gradients import loss_harm, positive, scaled
from traindx.evidence.detectors._number_text import strength, text, times, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Gradient norm grows", family="gradient_size")


def detect(
    case: Case,
    grad_norm: Curve,
    *,
    factor: float = 3.0,
    large_factor: float = 10.0,
    p_value: float = 1e-3,
    min_harm: float = 0.2,
    min_points: int = 20,
) -> Detected:
    steps, sizes = positive(grad_norm)
    if sizes.size < min_points:
        return Skipped(f"at least {min_points} values of the gradient norm")
    if scaled(case):
        return Skipped("gradient norms that are not multiplied by the loss scale")
    shape = stats.bins(steps, np.log(sizes), 80)
    width = max(3, shape.median.size // 8)
    levels = np.array([np.median(w) for w in np.lib.stride_tricks.sliding_window_view(shape.median, width)])
    low = int(levels[: max(1, 2 * levels.size // 3)].argmin())
    growth = exp(min(700.0, float(levels[-1] - levels[low])))
    climb = stats.trend(shape.step[low:], shape.median[low:])
    if growth < factor or not (climb.p < p_value and climb.slope > 0):
        return None
    onset, begin, end = float(shape.step[low]), exp(float(levels[low])), exp(float(levels[-1]))
    hurt = loss_harm(case, onset)
    orders = growth >= large_factor and not case.surrogate
    return Finding(
        text=f"The gradient norm grew {times(growth)}, from {text(begin)} around {where(grad_norm, onset)} "
        f"to {text(end)} at the end.",
        symptom="exploding_gradients" if orders else None,
        severity="medium" if orders and hurt is not None and hurt > min_harm else "low",
        step=onset,
        strength=strength(growth, factor, 10 * large_factor),
        numbers={"grad_norm": float(np.median(sizes)), "grad_peak": float(sizes.max()), "growth": growth},
        marks=(onset,),
    )


def fires() -> Runs:
    grown = noisy(np.exp(np.linspace(0, log(30), 200)), 0.3)
    yield run({"grad_norm": grown, "loss": noisy(decay(200, 3.0, 1.0), 0.02)})
    yield run({"grad_norm": grown, "loss": noisy(np.linspace(1.0, 3.0, 200), 0.02)})


def silent() -> Runs:
    yield run({"grad_norm": noisy([1.0] * 300, 0.8)})
    yield run({"grad_norm": noisy(decay(300, 15.0, 0.3, rate=40), 0.2)})
    yield run({"grad_norm": noisy(np.linspace(1.0, 2.0, 300), 0.2)})
    yield run({"grad_norm": noisy([0.5] * 100, 0.3) * (np.arange(100) % 3 > 0)}, traits=("rl",))
