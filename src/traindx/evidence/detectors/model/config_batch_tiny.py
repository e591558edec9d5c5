"""Very few samples make one update.

Batch size times accumulation steps times devices, as far as the configuration tells them. The sign is
weaker when accumulation is not known, for the real batch may be larger.

Silent above {max_batch_size}. Known mistakes: a sample may be a long document or a large volume that holds
plenty of gradient by itself.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._settings import whole_batch
from traindx.testing.sketch import run

DETECTOR = Detector(title="Tiny batch", needs=("setting:batch_size",), family="batch")


def detect(case: Case, *, max_batch_size: int = 4, strength_if_accumulation_unknown: float = 0.3) -> Detected:
    batch = whole_batch(case)
    if batch is None:
        return Skipped("the batch size as a number")
    samples, known = batch
    if samples > max_batch_size:
        return None
    clarity = 1.0 if samples <= max_batch_size / 2 else 0.5
    one = f"One update is made from {text(samples)} sample{'s' if samples > 1 else ''}."
    unsure = f"The batch size is {text(samples)}; accumulation, if any, is not in the configuration."
    return Finding(
        text=one if known else unsure,
        strength=clarity if known else clarity * strength_if_accumulation_unknown,
        numbers={"batch": samples},
    )


def fires() -> Runs:
    yield run({}, settings={"batch_size": 2, "accumulation": 1})
    yield run({}, settings={"batch_size": 1})


def silent() -> Runs:
    yield run({}, settings={"batch_size": 2, "accumulation": 16})
    yield run({}, settings={"batch_size": 1, "world_size": 8})
    yield run({}, settings={"batch_size": 32, "world_size": -1})
    yield run({}, settings={"batch_size": "auto"})
