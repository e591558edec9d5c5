"""From one step to the next, gradients turn around.

Compares the gradients of the first steps with each other, layer by layer. Early in training they mostly point
the same way. Seen when in the typical layer they point back (cosine {max_cosine} or lower): each step
overshoots and the next one takes it back, as it is with a rate beyond the limit. A sign.

Silent with less than two pairs of steps in a row.
Known mistakes: a fine-tuned model that is at its minimum already.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import strength
from traindx.evidence.detectors._updates import early_agreement
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Gradients turn around", needs=("fact:models", "grad_cosine/*"), family="gradient_direction"
)


def detect(case: Case, *, max_cosine: float = -0.15, full_strength_at: float = -0.5) -> Detected:
    cosine = early_agreement(case)
    if cosine is None:
        return Skipped("gradients of the first steps in a row")
    if cosine > max_cosine:
        return None
    return Finding(
        text=f"Gradients of the first steps point back against each other (cosine {cosine:.2f} in the "
        "typical layer; 0.2 to 0.7 is usual).",
        step=1.0,
        strength=strength(-cosine, -max_cosine, -full_strength_at),
        numbers={"cosine": cosine},
    )


def _cosines(values: list[float]) -> Run:
    from traindx.evidence.detectors._layers import model

    steps = [2.0, 3.0, 4.0, 8.0][: len(values)]
    series = {f"grad_cosine/{name}": (steps, values) for name in (0, 2, 4)}
    return run({"loss": [1.6] * 30, **series}, facts=model([[32, 8], [32, 32], [4, 32]]))


def fires() -> Runs:
    yield _cosines([-0.4, -0.6, -0.3, 0.5])


def silent() -> Runs:
    yield _cosines([0.5, 0.4, 0.3, -0.5])
    yield _cosines([0.0, -0.05, 0.1])
