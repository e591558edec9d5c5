"""The same batch comes at every step, although the data hold more.

Seen when nearly every batch looked at is the one of the step before and the training's loader has several.

Silent for training on the whole data at once, where every step has the same batch by design: without a loader
that tells of more data it is a sign at most. Known mistakes: trying to overfit one batch, as a test.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import count, percent
from traindx.evidence.sampled import sampled, training_loader
from traindx.testing.sketch import run

DETECTOR = Detector(title="The same batch every step", needs=("input/repeat_share",), family="input_variety")


def detect(
    case: Case, *, repeat_share: float = 0.7, min_samples: int = 4, min_loader_batches: int = 3
) -> Detected:
    repeats = sampled(case, "input/repeat_share", min_samples)
    distance = sampled(case, "input/repeat_distance")
    if repeats is None:
        return Skipped(f"at least {min_samples} samples of batches")
    again = float(repeats.y[-1])
    # The first batch looked at cannot be a repetition.
    if again < repeat_share * (1 - 1 / len(repeats)) or distance is None or distance.y.min() > 1:
        return None
    loader = training_loader(case)
    held = number(loader, "batches") if loader is not None else None
    if held is None or held < min_loader_batches:
        return None
    sentence = (
        f"{percent(again)} of the sampled batches repeat the step before; the loader holds {count(held)}."
    )
    return Finding(sentence, "silent_defect", "high", numbers={"repeat_share": again, "batches": held})


def _loader(batches: int) -> dict[str, object]:
    return {"loaders": [{"role": "training", "batch_size": 32, "batches": batches, "samples": 32 * batches}]}


def fires() -> Runs:
    again = {"input/repeat_share": [0.0, 0.5, 0.67, 0.75, 0.8, 0.83], "input/repeat_distance": [1.0] * 5}
    yield run(again, facts=_loader(32))


def silent() -> Runs:
    again = {"input/repeat_share": [0.0, 0.5, 0.67, 0.75, 0.8, 0.83], "input/repeat_distance": [1.0] * 5}
    yield run(again)
    yield run(again, facts=_loader(1))
    yield run({"input/repeat_share": [0.0] * 6}, facts=_loader(32))
