"""The optimizer is SGD without momentum.

Full when the configuration sets momentum to 0, weaker when it names none: the common libraries then
use 0.

Known mistakes: momentum set in the script and left out of the configuration.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._settings import optimizer_family
from traindx.testing.sketch import run

DETECTOR = Detector(title="SGD without momentum", needs=("setting:optimizer",), family="optimizer")


def detect(case: Case, *, strength_if_unnamed: float = 0.6) -> Detected:
    if optimizer_family(case) != "sgd" or "momentum" in case.word("optimizer"):
        return None
    momentum = case.number("momentum")
    if momentum:
        return None
    named = momentum is not None
    return Finding(
        text="The optimizer is SGD with momentum 0."
        if named
        else "The optimizer is SGD and the configuration names no momentum, which is 0 by default.",
        strength=1.0 if named else strength_if_unnamed,
        numbers={"optimizer": "sgd", "momentum": 0.0},
    )


def fires() -> Runs:
    yield run({}, settings={"optimizer": "sgd", "momentum": 0.0})
    yield run({}, settings={"optimizer": "torch.optim.SGD"})


def silent() -> Runs:
    yield run({}, settings={"optimizer": "sgd", "momentum": 0.9})
    yield run({}, settings={"optimizer": "adamw"})
    yield run({}, settings={"optimizer": "sgd_momentum"})
