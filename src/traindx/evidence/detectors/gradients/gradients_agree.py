"""Gradients of the first steps are all but the same: the batch is far above the noise.

Compares the gradients of the first steps with each other. Seen when the typical layer's cosine is
{min_cosine} or higher: a batch several times smaller would point the same way, and allow that many more steps
for the same work. A sign: full-batch training of small data is meant so.

Silent with less than two pairs of steps in a row.
Known mistakes: batches that hold the same samples each time.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._updates import early_agreement
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Gradients all the same", needs=("fact:models", "grad_cosine/*"), family="gradient_direction"
)


def detect(case: Case, *, min_cosine: float = 0.95) -> Detected:
    cosine = early_agreement(case)
    if cosine is None:
        return Skipped("gradients of the first steps in a row")
    if cosine < min_cosine:
        return None
    sentence = (
        f"Gradients of the first steps have a cosine of {cosine:.2f} in the typical layer: a smaller "
        "batch would point the same way."
    )
    return Finding(sentence, step=1.0, numbers={"cosine": cosine})


def _cosines(values: list[float]) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {f"grad_cosine/{name}": ([2.0, 3.0, 4.0], values) for name in (0, 2, 4)}
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))


def fires() -> Runs:
    yield _cosines([0.99, 0.98, 0.97])


def silent() -> Runs:
    yield _cosines([0.5, 0.4, 0.6])
    yield _cosines([0.9, 0.85, 0.8])
