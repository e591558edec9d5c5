"""Weight decay goes into Adam as an L2 term, where it is divided by the gradients' size like all else.

A circumstance: weights with large gradients are hardly decayed. `AdamW` decouples the two. Counts from a
weight decay of {min_weight_decay} on. Silent for AdamW, Adam with `decoupled_weight_decay`, and other
optimizers. Known mistakes: none; it is rarely what is wrong.
"""

from traindx.evidence.detector import Case, Detected, Detector, Fact, Finding, Runs, facts, number
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Adam with L2", needs=("fact:optimizers",), family="weight_decay_form")


def detect(case: Case, *, min_weight_decay: float = 1e-4) -> Detected:
    for optimizer in case.inside.optimizers:
        if str(optimizer.get("class")) not in ("Adam", "NAdam", "RAdam", "Adamax"):
            continue
        decay = max((_decay(group) for group in facts(optimizer.get("groups"))), default=0.0)
        if decay >= min_weight_decay:
            sentence = (
                f"{optimizer['class']} adds weight decay {text(decay)} to the gradients; AdamW decouples it."
            )
            return Finding(sentence, numbers={"weight_decay": decay})
    return None


def _decay(group: Fact) -> float:
    return 0.0 if group.get("decoupled_weight_decay") is True else number(group, "weight_decay") or 0.0


def fires() -> Runs:
    yield run({}, facts={"optimizers": [{"class": "Adam", "groups": [{"lr": 1e-3, "weight_decay": 0.01}]}]})


def silent() -> Runs:
    yield run({}, facts={"optimizers": [{"class": "AdamW", "groups": [{"lr": 1e-3, "weight_decay": 0.01}]}]})
    yield run({}, facts={"optimizers": [{"class": "Adam", "groups": [{"lr": 1e-3, "weight_decay": 0}]}]})
