"""Gradients of the first steps have nothing in common: noise drowns what the batches agree on.

Compares the gradients of the first steps with each other. Their cosine is about the share of the gradient
that all batches agree on; the noise scale, the batch at which signal and noise are equal, follows from it.
Seen when the typical layer's cosine lies within {max_cosine} of 0 in the first steps. A sign: such a batch is
far below the noise scale, or the targets have nothing to do with the inputs.

Silent with less than two pairs of steps in a row, and when gradients turn around (gradients_turn).
Known mistakes: later in training the same is usual, which is why only the first steps count.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import count
from traindx.evidence.detectors._updates import early_agreement
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Gradients are mostly noise", needs=("fact:models", "grad_cosine/*"), family="gradient_direction"
)


def detect(case: Case, *, max_cosine: float = 0.08, min_cosine_for_scale: float = 0.02) -> Detected:
    cosine = early_agreement(case)
    if cosine is None:
        return Skipped("gradients of the first steps in a row")
    if abs(cosine) > max_cosine:
        return None
    batch = case.number("batch_size")
    scale = batch * (1 / max(cosine, min_cosine_for_scale) - 1) if batch else None
    phrase = f" At batch {batch:g} that is a noise scale of about {count(scale)}." if batch and scale else ""
    return Finding(
        text=f"Gradients of the first steps have a cosine of {cosine:.2f} in the typical layer: they hardly "
        f"agree.{phrase}",
        step=1.0,
        strength=1.0,
        numbers={"cosine": cosine} | ({"noise_scale": scale} if scale else {}),
    )


def _cosines(values: list[float]) -> Run:
    from traindx.evidence.detectors._layers import model

    series = {f"grad_cosine/{name}": ([2.0, 3.0, 4.0], values) for name in (0, 2, 4)}
    facts = model([[32, 8], [32, 32], [4, 32]])
    return run({"loss": [1.6] * 30, **series}, settings={"batch_size": 1}, facts=facts)


def fires() -> Runs:
    yield _cosines([0.01, -0.03, 0.02])


def silent() -> Runs:
    yield _cosines([0.5, 0.4, 0.6])
    yield _cosines([-0.5, -0.4, -0.6])
