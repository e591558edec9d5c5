"""Training starts at the full learning rate, without a warm-up.

Seen when the rate logged at the very start (within the first half per cent of the run) is already at its
peak, or when the configuration sets warm-up to 0 and the logged rate does not speak against it. A sign:
stronger for Adam and its kin than for SGD.

Could not look when the log begins later, or counts epochs only: a short warm-up would have been over.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text, where
from traindx.evidence.detectors._settings import ADAPTIVE, optimizer_family
from traindx.testing.sketch import run

DETECTOR = Detector(title="No warm-up", needs=("lr|setting:warmup",), family="warmup")


def detect(
    case: Case,
    lr: Curve | None = None,
    *,
    start_share: float = 0.9,
    early_share: float = 0.005,
    sgd_strength: float = 0.3,
    unknown_optimizer_strength: float = 0.6,
) -> Detected:
    warmup, ratio = case.number("warmup"), case.number("warmup_ratio")
    if lr is not None and len(lr) > 1 and lr.y[0] < start_share * lr.y[: max(2, len(lr) // 2)].max():
        return None
    if warmup or ratio or (lr is not None and len(lr) and lr.y.max() <= 0):
        return None
    family = optimizer_family(case)
    clarity = 1.0 if family in ADAPTIVE else sgd_strength if family == "sgd" else unknown_optimizer_strength
    if warmup == 0 and "warmup" not in case.word("schedule"):
        phrase = "Warm-up is set to 0"
        if lr is not None and len(lr):
            phrase += f" and the learning rate is already {text(float(lr.y[0]))} when first logged"
        return Finding(text=f"{phrase}.", strength=clarity, numbers={"warmup": 0})
    if lr is None or not _from_the_start(case, lr, early_share):
        return Skipped("the learning rate from the first steps on, or the setting warmup")
    sentence = (
        f"The learning rate is {text(float(lr.y[0]))} at {where(lr, float(lr.x[0]))} already: "
        "there is no warm-up."
    )
    return Finding(
        sentence, step=float(lr.x[0]), series=lr.name, strength=clarity, numbers={"lr_first": float(lr.y[0])}
    )


def _length(case: Case, lr: Curve) -> float:
    return case.planned_steps or float(lr.x[-1])


def _from_the_start(case: Case, lr: Curve, early: float) -> bool:
    if lr.axis != "step" or len(lr) < 5:
        return False
    length = _length(case, lr)
    return float(lr.x[0]) <= max(1.0, early * length) and float(np.diff(lr.x[:5]).max()) <= 0.02 * length


def fires() -> Runs:
    yield run({"lr": np.linspace(6e-4, 6e-5, 2000)})
    yield run({"loss": [1.0]}, settings={"warmup": 0, "optimizer": "adamw"})


def silent() -> Runs:
    rise = np.concatenate([np.linspace(1e-6, 6e-4, 50), np.linspace(6e-4, 6e-5, 2000)])
    yield run({"lr": rise})
    yield run({"lr": (np.arange(500.0, 40000.0, 500.0), np.linspace(1e-4, 0, 79))})
    yield run({"lr": [1e-3] * 30}, axis="epoch")
    yield run({"lr": np.linspace(6e-4, 6e-5, 2000)}, settings={"warmup": 100})
