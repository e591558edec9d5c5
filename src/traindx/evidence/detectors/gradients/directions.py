"""How the gradients of following steps point."""

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Run
from traindx.evidence.detectors._layers import model
from traindx.evidence.detectors._number_text import count, strength
from traindx.testing.sketch import run


@Detector("Gradients all the same", needs=("fact:models", "grad_cosine/*"), family="gradient_direction")
def gradients_agree(cosine: float, *, min_cosine: float = 0.95) -> Detected:
    """Gradients of the first steps are all but the same: the batch is far above the noise.

    Compares the gradients of the first steps with each other. Seen when the typical layer's cosine is
    {min_cosine} or higher: a batch several times smaller would point the same way, and allow that many more
    steps for the same work. A sign: full-batch training of small data is meant so.

    Silent with less than two pairs of steps in a row.
    Known mistakes: batches that hold the same samples each time.
    """
    if cosine < min_cosine:
        return None
    sentence = (
        f"Gradients of the first steps have a cosine of {cosine:.2f} in the typical layer: a smaller "
        "batch would point the same way."
    )
    return Finding(sentence, step=1.0, numbers={"cosine": cosine})


def _cosines(values: list[float]) -> Run:
    steps = [2.0, 3.0, 4.0, 8.0][: len(values)]
    series = {f"grad_cosine/{name}": (steps, values) for name in (0, 2, 4)}
    facts = model([[32, 8], [32, 32], [4, 32]])
    return run({"loss": [1.6] * 30, **series}, settings={"batch_size": 1}, facts=facts)


@Detector("Gradients turn around", needs=("fact:models", "grad_cosine/*"), family="gradient_direction")
def gradients_turn(cosine: float, *, max_cosine: float = -0.15, full_strength_at: float = -0.5) -> Detected:
    """From one step to the next, gradients turn around.

    Compares the gradients of the first steps with each other, layer by layer. Early in training they mostly
    point the same way. Seen when in the typical layer they point back (cosine {max_cosine} or lower): each
    step overshoots and the next one takes it back, as it is with a rate beyond the limit. A sign.

    Silent with less than two pairs of steps in a row.
    Known mistakes: a fine-tuned model that is at its minimum already.
    """
    if cosine > max_cosine:
        return None
    return Finding(
        text=f"Gradients of the first steps point back against each other (cosine {cosine:.2f} in the "
        "typical layer; 0.2 to 0.7 is usual).",
        step=1.0,
        strength=strength(-cosine, -max_cosine, -full_strength_at),
        numbers={"cosine": cosine},
    )


@Detector("Gradients are mostly noise", needs=("fact:models", "grad_cosine/*"), family="gradient_direction")
def gradients_noisy(
    case: Case, cosine: float, *, max_cosine: float = 0.08, min_cosine_for_scale: float = 0.02
) -> Detected:
    """Gradients of the first steps have nothing in common: noise drowns what the batches agree on.

    Compares the gradients of the first steps with each other. Their cosine is about the share of the
    gradient that all batches agree on; the noise scale, the batch at which signal and noise are equal,
    follows from it. Seen when the typical layer's cosine lies within {max_cosine} of 0 in the first steps. A
    sign: such a batch is far below the noise scale, or the targets have nothing to do with the inputs.

    Silent with less than two pairs of steps in a row, and when gradients turn around (gradients_turn).
    Known mistakes: later in training the same is usual, which is why only the first steps count.
    """
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


def cases() -> Cases:
    yield from gradients_agree.fires(_cosines([0.99, 0.98, 0.97]))
    yield from gradients_agree.silent(_cosines([0.5, 0.4, 0.6]), _cosines([0.9, 0.85, 0.8]))
    yield from gradients_turn.fires(_cosines([-0.4, -0.6, -0.3, 0.5]))
    yield from gradients_turn.silent(_cosines([0.5, 0.4, 0.3, -0.5]))
    yield from gradients_turn.silent(_cosines([0.0, -0.05, 0.1]))
    yield from gradients_noisy.fires(_cosines([0.01, -0.03, 0.02]))
    yield from gradients_noisy.silent(_cosines([0.5, 0.4, 0.6]))
    yield from gradients_noisy.silent(_cosines([-0.5, -0.4, -0.6]))
