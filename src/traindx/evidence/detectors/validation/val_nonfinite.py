"""The validation loss is NaN or Inf while the training loss is finite.

The model still trains, but nothing can be said about it and no best checkpoint can be chosen. All
evaluations lost is critical; the last ones, or a good share, high; single ones that passed, medium.

Silent when the training loss is lost too (see loss_nonfinite).
Known mistakes: a log that writes NaN for an evaluation that was skipped.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs, Severity
from traindx.evidence.detectors._number_text import text, where
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Validation loss NaN or Inf", family="nonfinite")


def detect(val_loss: Curve, loss: Curve | None = None, *, bad_share: float = 0.2) -> Detected:
    if not val_loss.broken:
        return None
    gone = np.flatnonzero(~val_loss.finite)
    onset = float(val_loss.series.steps[gone[0]])
    if loss is not None and loss.broken:
        return None
    count, total = int(gone.size), int(val_loss.finite.size)
    kind = "NaN" if np.isnan(val_loss.series.values[gone[0]]) else "Inf"
    severity: Severity = "medium"
    if count == total > 1:
        severity = "critical"
    elif count / total > bad_share or not val_loss.finite[-1]:
        severity = "high"
    phrase = " (no training loss is logged)"
    if loss is not None and len(loss):
        phrase = f", while the training loss is finite ({text(float(loss.y[-1]))} at the end)"
    return Finding(
        f"The validation loss is {kind} in {count} of {total} evaluations, first at {where(val_loss, onset)}"
        f"{phrase}.",
        "nonfinite",
        severity,
        step=onset,
        strength=1.0 if total > 1 else 0.7,
        numbers={"nonfinite": count, "evaluations": total, "nonfinite_share": count / total},
        marks=(onset,),
    )


def fires() -> Runs:
    nan = float("nan")
    yield run({"loss": decay(80, 6.0, 5.2), "val/loss": (np.arange(7) * 10, [nan] * 7)})
    yield run({"loss": decay(20, 2.0, 0.5), "val/loss": [*decay(17, 2.0, 0.6), float("inf"), nan, nan]})
    yield run({"val/loss": [1.0, nan, nan]})


def silent() -> Runs:
    nan = float("nan")
    yield run({"loss": decay(20, 2.0, 0.5), "val/loss": decay(20, 2.0, 0.6)})
    yield run({"loss": [*decay(10, 2.0, 1.0), *[nan] * 10], "val/loss": [*decay(12, 2.0, 1.0), *[nan] * 8]})
    yield run({"loss": [nan] * 10, "val/loss": [nan] * 10})
