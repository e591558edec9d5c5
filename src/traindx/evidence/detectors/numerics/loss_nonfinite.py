"""The training loss became NaN or Inf.

Gives the step, how many values are affected, whether the loss came back, and the last finite value. A
loss that stays NaN is lost (critical); a single value that passed is serious but survivable (medium).

Silent when all values are finite. Hugging Face's trainer hides NaN as 0.0: see loss_masked_nan.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Severity
from traindx.evidence.detectors._number_text import where
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Loss NaN or Inf", family="nonfinite", explains=("plateau", "slow_decline", "loss_flat")
)


def detect(loss: Curve, *, few_share: float = 0.02) -> Detected:
    if not loss.broken:
        return None
    steps, values = loss.series.steps, loss.series.values
    gone = np.flatnonzero(~loss.finite)
    first = int(gone[0])
    onset = float(steps[first])
    kind = "NaN" if np.isnan(values[first]) else "Inf"
    stays = not loss.finite[-1]
    again = stays and bool(loss.finite[first:].any())
    share = gone.size / values.size
    severity: Severity = "critical" if stays else "high" if share > few_share else "medium"
    before = loss.y[loss.x <= onset]
    led = f" after {before[-1]:.4g}" if before.size else " in its first value"
    share_text = f"{gone.size} of {values.size:,} values"
    end = "stays so to the end" if stays else f"{share_text}, finite again later"
    if again:
        end = f"{share_text} are not finite, the last one too"
    text = f"The loss is {kind} at {where(loss, onset)}{led}; {end}."
    numbers = {"nonfinite_share": float(share)}
    if before.size:
        numbers["last_finite"] = float(before[-1])
    return Finding(text, "nonfinite", severity, onset, numbers=numbers, marks=(onset,))


def fires() -> Runs:
    yield run({"loss": [*decay(50, 2.0, 0.5), *[float("nan")] * 20]})
    yield run({"loss": [float("inf")] * 3})


def silent() -> Runs:
    yield run({"loss": decay(50, 2.0, 0.5)})
    yield run({"val/loss": [1.0, float("nan")]})
