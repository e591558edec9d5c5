"""The loss repeats one value to the last digit.

Real batches differ, so a loss that is logged with {min_digits} or more significant digits cannot repeat
itself unless nothing reaches it: no update, outputs that no longer depend on the input, or a value that is
not recomputed. Seen when the last values (at least {min_points} of them, and {frozen_share} of the run) are
identical.

Low when it came to rest: it had fallen by half at least, ever more slowly, with the same data at every step
(the whole set at once, L-BFGS), and ends under the loss of a constant answer.

Silent when the log rounds so coarsely that repeats are ordinary, and at exactly zero (see
loss_masked_nan).
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, FloatArray, Runs
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Loss frozen", family="flat", explains=("plateau", "slow_decline"), guards=("surrogate",)
)


def detect(
    case: Case, loss: Curve, *, min_points: int = 5, frozen_share: float = 0.2, min_digits: int = 4
) -> Detected:
    last = float(loss.y[-1])
    differs = np.flatnonzero(np.abs(loss.y - last) > 1e-9 * abs(last))
    first = int(differs[-1]) + 1 if differs.size else 0
    count = len(loss) - first
    if last == 0 or count < max(min_points, frozen_share * len(loss)) or _digits(loss.y) < min_digits:
        return None
    onset = float(loss.x[first])
    rests = _came_to_rest(loss.y[: first + 1]) and not case.harm.suffers
    text = f"The loss is {last:.8g} to the last digit in {count:,} values, from {where(loss, onset)} on."
    return Finding(
        text, "not_learning" if first <= 0.1 * len(loss) else "plateau",
        "low" if rests else "high", onset,
        float(loss.x[-1]), loss.name, numbers={"last_value": last}, marks=(onset,),
    )  # fmt: skip


def _came_to_rest(values: FloatArray, *, fallen: float = 0.5, near: float = 1e-3) -> bool:
    """Whether the last moves before the end were a thousandth of a fall by half or more."""
    if values.size < 8:
        return False
    fall = float(values[0] - values[-1])
    left = np.abs(values[-4:] - values[-1])
    return fall > fallen * abs(float(values[0])) and bool((left <= near * fall).all())


def _digits(values: FloatArray) -> int:
    """With how many significant digits the last value is told, judged by all of them."""
    last = abs(float(values[-1]))
    sample = values[-2000:]
    for decimals in range(12):
        if np.allclose(np.round(sample, decimals), sample, rtol=1e-12, atol=0):
            return len(str(int(last * 10**decimals))) if last * 10**decimals >= 1 else 0
    return 12


def fires() -> Runs:
    yield run({"loss": [1.6, 11.8, 11.5, 10.38, *[10.3735] * 20]})
    yield run({"loss": [2.30258] * 30})


def silent() -> Runs:
    yield run({"loss": [round(v, 3) for v in decay(100, 2.0, 0.004, rate=12)]})
    yield run({"loss": noisy(decay(100, 2.0, 0.5), 0.02)})
