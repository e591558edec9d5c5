"""The learning rate is below what this optimizer is usually given.

Compares the highest logged rate (or the configured one) with the lower end of what is usual: {adam} for Adam
and its kin and Lion, {sgd} for SGD, {adadelta} for Adadelta (whose own scale is 1). When anything hints at
fine-tuning, preference or reinforcement learning, a tenth of that, for SGD half. When the optimizer is not
known only a rate below {unknown_optimizer} counts; from {low_for_none} on it is low for no optimizer but
Adadelta, and in between nothing can be said. The further below, the
stronger the sign.

Silent about a rate of exactly 0: that is lr_zero.
Known mistakes: very small rates are right for the last phase of some long trainings; a sum-reduced
loss wants a rate smaller by the batch size.
"""

from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._settings import ADAPTIVE, optimizer_family, perhaps_tuned
from traindx.testing.sketch import run

DETECTOR = Detector(title="Learning rate low for the optimizer", family="lr_value")


def detect(
    case: Case,
    lr_value: float,
    *,
    adam: float = 3e-6,
    sgd: float = 1e-4,
    sgd_on_pretrained: float = 5e-5,
    adadelta: float = 0.05,
    unknown_optimizer: float = 3e-7,
    low_for_none: float = 0.01,
    pretrained_factor: float = 0.1,
) -> Detected:
    family = optimizer_family(case)
    if family == "adadelta":
        limit = adadelta
    elif family in ADAPTIVE or family in ("lion", "lamb", "adafactor"):
        limit = adam
    elif family == "sgd":
        limit = sgd_on_pretrained if perhaps_tuned(case) else sgd
    else:
        limit = unknown_optimizer
    if family not in ("", "sgd") and perhaps_tuned(case):
        limit *= pretrained_factor
    if not 0 < lr_value < limit:
        known = family or lr_value <= 0 or lr_value >= low_for_none
        return None if known else Skipped("the optimizer, in the configuration")
    return Finding(
        text=f"The learning rate {text(lr_value)} is {times(limit / lr_value)} below the lower end of what "
        f"is usual for {family or 'nearly any optimizer'} ({text(limit)}).",
        series="lr" if case.lr is not None else None,
        strength=strength(limit / lr_value, 1.0, 10.0),
        numbers={"lr": lr_value, "lr_usual": limit},
    )


def fires() -> Runs:
    yield run({}, settings={"lr": 5e-6, "optimizer": "sgd"})
    yield run({"lr": [1e-8] * 5}, settings={"optimizer": "adamw"})
    yield run({}, settings={"lr": 0.001, "optimizer": "Adadelta"})
    yield run({}, settings={"lr": 1e-12})


def silent() -> Runs:
    yield run({}, settings={"lr": 2e-5, "optimizer": "adamw"})
    yield run({}, settings={"lr": 0.0, "optimizer": "adamw"})
    yield run({}, settings={"lr": 5e-6})
    yield run({}, settings={"lr": 0.1})
    yield run({}, settings={"lr": 5e-7, "optimizer": "adamw"}, traits=("preference",))
    yield replace(run({}, settings={"lr": 1e-4, "optimizer": "sgd"}), config={"pretrained": True})
