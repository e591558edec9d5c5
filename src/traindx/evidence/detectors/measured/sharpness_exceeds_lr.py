"""The loss is too sharp for the learning rate.

Plain gradient steps are stable while the learning rate is below 2 over the largest eigenvalue of the
Hessian. Seen when it exceeds that by {excess_factor} times: steps overshoot and grow along that direction.
Adam and momentum move the limit, so that this is a sign unless the excess is {large_factor} times or more.
Not checked where no learning rate is given (`--lr`).
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, Skipped, number
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(
    title="Sharpness exceeds the learning rate", needs=("fact:curvature",), family="curvature"
)


def detect(run: Run, *, excess_factor: float = 1.1, large_factor: float = 5.0) -> Detected:
    fact = run.facts["curvature"]
    lr, largest = number(fact, "lr"), number(fact, "largest")
    if lr is None or largest is None:
        return Skipped("the learning rate (--lr)")
    excess = lr * largest / 2
    if excess < excess_factor:
        return None
    large = excess >= large_factor
    return Finding(
        text=f"The largest eigenvalue of the Hessian is {text(largest)}: plain steps are stable up to a "
        f"learning rate of {text(2 / largest)}, and {text(lr)} is {excess:.2g} times that.",
        symptom="oscillation" if large else None,
        severity="medium" if large else "low",
        numbers={"largest": largest, "stable_lr": 2 / largest, "excess": excess},
    )


def _of(lr: float | None) -> Run:
    return sketched({}, facts={"curvature": {"kind": "slope", "lr": lr, "largest": 100.0}})


def fires() -> Runs:
    yield _of(1.0)
    yield _of(0.03)


def silent() -> Runs:
    yield _of(0.01)
    yield _of(0.019)
