"""A loss that a constant answer has too."""

import numpy as np

from traindx.core.kinds import loss_kind
from traindx.evidence.detector import (
    Case,
    Cases,
    Curve,
    Detected,
    Detector,
    Finding,
    Skipped,
)
from traindx.evidence.detectors._number_text import text
from traindx.evidence.sampled import odd_objective
from traindx.testing.sketch import decay, noisy, run


@Detector(
    "No better than a constant answer",
    needs=("fact:losses",),
    family="learning",
    counts_as="loss_at_chance",
    explains=("plateau", "loss_creeps", "slow_decline"),
    guards=("surrogate",),
)
def loss_at_constant_answer(
    case: Case, loss: Curve, *, of_classes: float = 1.0, of_variance: float = 0.97, min_points: int = 60
) -> Detected:
    """The loss ends where the best constant answer is, whatever the inputs are.

    Known from the recorded targets: the variance of real numbers under a squared error ({of_variance} of it
    and more), or the entropy of the classes by their shares under a cross-entropy without weights
    ({of_classes} of it and more). A model that takes anything from its inputs is below.

    Low while the loss still falls clearly. Silent with several losses or optimizers, and without the
    recorded targets.
    """
    level = case.task.guess_loss
    if level is None or odd_objective(case):
        return Skipped("a squared error or a cross-entropy without weights, and its targets")
    classes = bool(case.task.class_shares) and loss_kind(case.inside.losses[0]) != "mse"
    outside = loss.tail < (of_classes if classes else of_variance) * level or loss.tail > 3 * level
    if outside or case.level.answers_right:
        return None
    answer = "the shares of the classes" if classes else "the mean of the targets"
    return Finding(
        f"The loss ends at {text(loss.tail)}; to answer {answer} every time costs {text(level)}: nothing of "
        "the inputs is used.",
        symptom="not_learning",
        severity="low" if loss.course.still_falls() else "high",
        numbers={"last_value": loss.tail, "constant": level},
    )


def cases() -> Cases:
    squares = {"losses": [{"function": "mse_loss", "reduction": "mean"}]}
    stays, learns = noisy(np.linspace(1.1, 1.0, 200), 0.02), noisy(decay(200, 1.0, 0.3), 0.02)
    yield from loss_at_constant_answer.fires(run({"loss": stays, "target/std": [1.0] * 6}, facts=squares))
    yield from loss_at_constant_answer.silent(
        run({"loss": learns, "target/std": [1.0] * 6}, facts=squares), run({"loss": learns})
    )
