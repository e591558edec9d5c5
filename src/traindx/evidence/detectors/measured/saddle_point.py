"""The weights rest at a saddle point: no gradient to follow, and a direction in which the loss falls.

Measured by the smallest eigenvalue of the Hessian: clearly negative (beyond its uncertainty and a fiftieth
of the largest) where the gradient promises less than a hundredth of the loss. Seen when a step along that
direction lowers the loss by {fall_share:%} or more. Silent at minima, on flat ground, and where the
gradient still leads down.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, number
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="Saddle point", needs=("fact:curvature",), family="curvature")


def detect(run: Run, *, fall_share: float = 0.01) -> Detected:
    fact = run.facts["curvature"]
    loss, lower, smallest = (number(fact, key) for key in ("loss", "loss_along_negative", "smallest"))
    if fact.get("kind") != "saddle" or loss is None or lower is None or smallest is None:
        return None
    if not loss or (loss - lower) / abs(loss) < fall_share:
        return None
    gradient = text(number(fact, "gradient_norm") or 0.0)
    return Finding(
        text=f"The weights are at a saddle point: the norm of the gradient is {gradient}, the "
        f"smallest eigenvalue of the Hessian {text(smallest)}, and a step of "
        f"{text(abs(number(fact, 'step_along_negative') or 0.0))} along it lowers the loss by "
        f"{percent((loss - lower) / abs(loss))}.",
        symptom="plateau",
        severity="medium",
        numbers={"smallest": smallest, "fall_share": (loss - lower) / abs(loss)},
    )


def _of(kind: str, lower: float) -> Run:
    fact = {"kind": kind, "loss": 1.0, "loss_along_negative": lower, "smallest": -0.5, "gradient_norm": 1e-5}
    return sketched({}, facts={"curvature": {**fact, "step_along_negative": 0.6}})


def fires() -> Runs:
    yield _of("saddle", 0.6)


def silent() -> Runs:
    yield _of("minimum", 1.0)
    yield _of("slope", 0.6)
