"""Nothing in the configuration restrains the model: dropout and weight decay are 0.

Both must be named and 0, and no other key may name a restraint that is on (label smoothing, drop path,
mix-up, augmentation, an adapter's dropout).

Known mistakes: augmentation that stands in the script only.
"""

import re
from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._settings import given
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="No regularisation", needs=("setting:dropout", "setting:weight_decay"), family="regularisation"
)
_RESTRAINT = re.compile(
    r"drop(?!_last)|weight_decay|smoothing|mix_?up|cut_?mix|augment|stochastic_depth|early_stop|l1_|l2_|noise"
)


def detect(case: Case, *, none_below: float = 0.0) -> Detected:
    dropout, decay = case.number("dropout"), case.number("weight_decay")
    if dropout is None or decay is None:
        return Skipped("dropout and weight decay as numbers")
    if dropout > none_below or decay > none_below or (case.number("label_smoothing") or 0.0) > none_below:
        return None
    for key, value in case.run.config.items():
        if _RESTRAINT.search(key.lower()) and "drop_last" not in key.lower() and given(_number(value)):
            return None
    sentence = "Dropout and weight decay are both 0 and the configuration names no other restraint."
    return Finding(sentence, strength=0.7, numbers={"dropout": dropout, "weight_decay": decay})


def _number(value: object) -> str | float | None:
    """0.0 written as text is nothing either."""
    try:
        return float(str(value)) or None
    except ValueError:
        return str(value)


def fires() -> Runs:
    nothing = run({}, settings={"dropout": 0.0, "weight_decay": 0.0})
    yield nothing
    yield replace(nothing, config={"dropout": "0.0", "weight_decay": 0, "dataloader_drop_last": True})


def silent() -> Runs:
    yield run({}, settings={"dropout": 0.1, "weight_decay": 0.0})
    yield run({}, settings={"dropout": 0.0, "weight_decay": 0.0, "label_smoothing": 0.1})
    adapter = run({}, settings={"dropout": 0.0, "weight_decay": 0.0})
    yield replace(adapter, config={"lora_dropout": 0.05})
