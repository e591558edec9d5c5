"""Very few samples make one update.

Batch size times accumulation steps times devices, as far as the configuration gives them. The sign is
weaker when accumulation is not known, for the real batch may be larger. Above {max_batch_size}, and below
{small_batch_size}, it is a weak sign where the loss scatters by {min_scatter} of its level or more.

Silent above that. Known mistakes: a sample may be a long document or a large volume that holds
plenty of gradient by itself.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._settings import whole_batch
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Tiny batch", needs=("setting:batch_size",), family="batch")


def detect(
    case: Case,
    *,
    max_batch_size: int = 4,
    small_batch_size: int = 16,
    min_scatter: float = 0.15,
    strength_if_accumulation_unknown: float = 0.3,
) -> Detected:
    batch = whole_batch(case)
    if batch is None:
        return Skipped("the batch size as a number")
    samples, known = batch
    if samples > max_batch_size and not (samples < small_batch_size and _scatters(case, min_scatter)):
        return None
    clarity = 1.0 if samples <= max_batch_size / 2 else 0.5 if samples <= max_batch_size else 0.3
    one = f"One update is made from {text(samples)} sample{'s' if samples > 1 else ''}."
    unsure = f"The batch size is {text(samples)}; accumulation, if any, is not in the configuration."
    return Finding(
        text=one if known else unsure,
        strength=clarity if known else clarity * strength_if_accumulation_unknown,
        numbers={"batch": samples},
    )


def _scatters(case: Case, share: float, *, points: int = 16) -> bool:
    """Whether the training loss varies from point to point by a share of its level."""
    loss = case.loss
    return loss is not None and len(loss) >= points and loss.noise >= share * abs(loss.tail)


def fires() -> Runs:
    scattered = noisy(decay(60, 2.0, 1.0), 0.4)
    yield run({"loss": scattered}, settings={"batch_size": 8, "accumulation": 1})
    yield run({}, settings={"batch_size": 2, "accumulation": 1})
    yield run({}, settings={"batch_size": 1})


def silent() -> Runs:
    yield run({}, settings={"batch_size": 2, "accumulation": 16})
    yield run({}, settings={"batch_size": 1, "world_size": 8})
    yield run({"loss": noisy(decay(60, 2.0, 1.0), 0.02)}, settings={"batch_size": 8, "accumulation": 1})
    yield run({}, settings={"batch_size": 32, "world_size": -1})
    yield run({}, settings={"batch_size": "auto"})
