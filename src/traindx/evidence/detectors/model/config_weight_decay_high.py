"""Weight decay is above what this optimizer is usually given.

The upper end of what is usual: {adamw} for AdamW and other decoupled decay, {lion} for Lion,
{coupled_optimizers} for Adam and SGD, where decay is added to the gradient. When the optimizer is not known,
{adamw}.

Known mistakes: frameworks that call decoupled decay plain `adam`; decay that is divided by the rate.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._settings import optimizer_family
from traindx.testing.sketch import run

DETECTOR = Detector(title="High weight decay", needs=("setting:weight_decay",), family="regularisation")


def detect(
    case: Case, *, adamw: float = 0.3, lion: float = 3.0, coupled_optimizers: float = 0.01
) -> Detected:
    decay = case.number("weight_decay")
    if decay is None:
        return Skipped("weight decay as a number")
    family = optimizer_family(case)
    limit = (
        lion if family == "lion" else coupled_optimizers if family in ("adam", "sgd", "rmsprop") else adamw
    )
    if not decay > limit:
        return None
    return Finding(
        text=f"Weight decay {text(decay)} is {times(decay / limit)} the upper end of what is usual for "
        f"{family or 'most optimizers'} ({text(limit)}).",
        strength=strength(decay, limit, 10 * limit),
        numbers={"weight_decay": decay, "weight_decay_usual": limit},
    )


def fires() -> Runs:
    yield run({}, settings={"weight_decay": 1.0, "optimizer": "adamw"})
    yield run({}, settings={"weight_decay": 0.1, "optimizer": "sgd"})
    yield run({}, settings={"weight_decay": 1.0})


def silent() -> Runs:
    yield run({}, settings={"weight_decay": 0.1, "optimizer": "adamw_torch"})
    yield run({}, settings={"weight_decay": 5e-4, "optimizer": "sgd"})
    yield run({}, settings={"weight_decay": 1.0, "optimizer": "lion"})
    yield run({}, settings={"weight_decay": 0.1})
