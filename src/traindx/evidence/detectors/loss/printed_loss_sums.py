"""The loss that the script prints is a sum it never begins anew.

Compares what was printed as training loss with the losses that were recorded step by step. Seen when the
print only ever grows, and grows each time by the same multiple of the mean loss since the print before: a
total that is not set back. The training is fine, what is read of it is not.

Silent with fewer than {min_points} prints, when the recorded losses do not fall (the print may then well
rise), for RL, GANs and evidence bounds. Known mistakes: totals that are printed as totals on purpose.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, FloatArray, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Printed loss adds up",
    needs=("printed/loss|logged/loss",),
    family="metric",
    guards=("surrogate", "elbo"),
)


def detect(
    case: Case, loss: Curve, *, min_points: int = 5, recorded_fall: float = 0.3, max_variation: float = 0.1
) -> Detected:
    told = case.curve("printed/loss", "logged/loss")
    if told is None or len(told) < min_points or len(loss) < 4 * len(told):
        return Skipped(f"{min_points} printed losses next to those of the steps")
    means = _between(loss.x, loss.y, told.x)
    grown = np.diff(told.y)
    if means is None or not (grown > 0).all() or not (means > 0).all():
        return None
    share = grown / means[1:]
    even = float(np.median(np.abs(share / np.median(share) - 1)))
    if means[-1] > (1 - recorded_fall) * means[0] or even > max_variation:
        return None
    return Finding(
        f"The printed loss rises from {text(float(told.y[0]))} to {text(float(told.y[-1]))} while that of "
        f"the steps falls from {text(float(means[0]))} to {text(float(means[-1]))}: each print adds the "
        "losses since the last to all before.",
        symptom="silent_defect",
        severity="medium",
        step=float(told.x[0]),
        end=float(told.x[-1]),
        series=told.name,
        numbers={"metric": told.name, "first": float(told.y[0]), "last": float(told.y[-1])},
    )


def _between(steps: FloatArray, values: FloatArray, prints: FloatArray) -> FloatArray | None:
    """The mean of the values between one print and the next; None where one has none."""
    edges = np.searchsorted(steps, prints, side="right")
    spans = list(zip([0, *edges[:-1]], edges, strict=True))
    if any(end <= start for start, end in spans):
        return None
    return np.array([float(values[start:end].mean()) for start, end in spans])


def fires() -> Runs:
    loss = noisy(decay(400, 4.0, 0.2), 0.05)
    sums = np.cumsum(loss)[39::40] / 40
    yield run({"loss": loss, "printed/loss": (list(range(40, 401, 40)), sums)})


def silent() -> Runs:
    at = list(range(40, 401, 40))
    loss = noisy(decay(400, 4.0, 0.2), 0.05)
    yield run({"loss": loss, "printed/loss": (at, [float(loss[n - 40 : n].mean()) for n in at])})
    yield run({"loss": loss, "printed/loss": (at, np.cumsum(loss)[39::40] / np.array(at))})
    rising = noisy(np.linspace(1.0, 4.0, 400), 0.05)
    yield run({"loss": rising, "printed/loss": (at, rising[39::40])})
