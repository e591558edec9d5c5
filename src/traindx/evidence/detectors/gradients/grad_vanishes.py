"""The gradient norm is next to nothing while the loss is still high.

Two ways: the norm fell to a ten-thousandth of where it began though the loss lost less than half of its
start; or it was nearly nothing all along, {norm_to_loss} of the loss or exactly 0, and the loss does not
move. Usual norms are between a tenth and ten.

Silent where small gradients are right: the loss came down; reinforcement learning, where batches without
advantage give none; a norm of 0 that is not measured (the loss falls all the same).
Known mistakes: full-batch training at a true minimum has no gradient either.
"""

import numpy as np

from traindx.evidence.detector import Curve, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._gradients import positive
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Gradients vanish", family="gradient_size", guards=("surrogate",))


def detect(
    grad_norm: Curve,
    loss: Curve,
    *,
    fall_factor: float = 1e-4,
    norm_to_loss: float = 1e-4,
    loss_left: float = 0.5,
    min_points: int = 10,
) -> Detected:
    width = max(3, len(grad_norm) // 10)
    end = float(np.median(grad_norm.y[-width:]))
    steps, sizes = positive(grad_norm)
    start = float(np.median(sizes[:width])) if sizes.size else 0.0
    high = loss.tail > loss_left * loss.head if loss.head > 0 else False
    if start and sizes.size > grad_norm.y.size // 2 and end <= fall_factor * start and high:
        gone = np.flatnonzero(sizes > fall_factor * start)
        onset = float(steps[gone[-1]])
        return _finding(grad_norm, onset, start, end, f"fell from {text(start)} to {text(end)}", loss)
    nothing = max(start, end) <= norm_to_loss * abs(loss.head) and loss.head != 0
    if nothing and not _moves(loss):
        phrase = "is exactly 0" if grad_norm.y.max() <= 0 else f"is {text(max(start, end))} at most"
        return _finding(grad_norm, float(grad_norm.x[0]), start, end, f"{phrase} all along", loss)
    return None


def _finding(norms: Curve, onset: float, start: float, end: float, told: str, loss: Curve) -> Finding:
    sentence = (
        f"The gradient norm {told} while the loss is at {text(loss.tail)} (it began at {text(loss.head)})."
    )
    numbers = {"grad_norm": end, "grad_first": start, "onset": onset}
    return Finding(
        sentence, "vanishing_gradients", "high", onset, series=norms.name, numbers=numbers, marks=(onset,)
    )


def _moves(loss: Curve) -> bool:
    """Whether the loss changes for good anywhere: then there were gradients."""
    change = abs(loss.head - loss.tail)
    return (
        change > min(3 * loss.noise, 0.2 * abs(loss.head)) or loss.course.came_down() or loss.trend.p < 0.01
    )


def fires() -> Runs:
    falling = noisy(np.exp(np.linspace(0, -16, 100)), 0.2)
    yield run({"grad_norm": falling, "loss": noisy([2.3] * 100, 0.01)})
    yield run({"grad_norm": noisy([1e-11] * 60, 0.3), "loss": noisy([2.3] * 60, 0.01)})
    yield run({"grad_norm": [0.0] * 60, "loss": noisy([2.3] * 60, 0.01)})


def silent() -> Runs:
    yield run({"grad_norm": np.exp(np.linspace(0, -16, 100)), "loss": decay(100, 2.0, 0.0, rate=12)})
    yield run({"grad_norm": [0.0] * 60, "loss": noisy(decay(60, 2.3, 1.0), 0.02)})
    yield run({"grad_norm": [0.0] * 60, "loss": noisy([0.0] * 60, 0.1, relative=False)}, traits=("rl",))
    yield run({"grad_norm": noisy([0.3] * 60, 0.3), "loss": noisy([2.3] * 60, 0.01)})
