"""The training accuracy lies far below what guessing gives.

Guessing is right once in K times; to be right much less often a model must be led away from the answer. Data
sorted by class do that (the model answers with the class of the batch before), and labels that are shifted
against their inputs or against the classes of the output. Seen when the training accuracy stays under
{chance_share} of 1/K, K being known from the settings or from the first losses and accuracies, or under that
share of the validation accuracy, while the loss does not fall.

Silent when the loss falls (an accuracy that is logged for a regression is 0 for no reason), without any
hint that there are classes, with fewer than {min_points} values, and for RL and GAN training.
Known mistakes: an accuracy that compares whole vectors is 0 for long in good order.
"""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Accuracy below chance",
    family="below_chance",
    explains=("accuracy_at_chance",),
    guards=("surrogate",),
)


def detect(
    case: Case,
    accuracy: Curve,
    loss: Curve,
    *,
    chance_share: float = 0.3,
    max_loss_fall: float = 0.1,
    min_points: int = 8,
    max_classes: int = 50,
) -> Detected:
    part = shares(accuracy)
    if part is None:
        return Skipped(f"at least {min_points} values of the training accuracy and loss")
    if loss.head <= 0 or (loss.head - last_level(loss.y)) / loss.head > max_loss_fall:
        return Skipped("a loss that does not fall: then the accuracy alone is odd")
    classes = case.task.classes
    held_out = shares(case.val("accuracy"))
    guess, told = 0.0, ""
    if classes is not None and classes <= max_classes:
        guess = 1.0 / classes
        told = f"guessing among {classes} classes gives {text(guess)}"
    elif held_out is not None and held_out.size >= min_points:
        guess = float(np.median(held_out))
        told = f"on validation data the same model has {text(guess)}"
    if guess < 1.0 / max_classes:
        return Skipped("the number of classes in the configuration")
    later = part[part.size // 3 :]
    if float(later.mean()) > chance_share * guess:
        return None
    return Finding(
        f"The training accuracy is {text(float(later.mean()))} over the last {later.size} values: {told}. "
        "Something leads the model away from the answer.",
        "not_learning",
        "medium",
        step=float(accuracy.x[part.size // 3]),
        end=float(accuracy.x[-1]),
        numbers={"accuracy": float(later.mean()), "chance_accuracy": guess},
    )


def fires() -> Runs:
    loss = noisy([2.55] * 20, 0.005)
    yield run({"loss": loss, "accuracy": [0.11, *[0.0] * 19], "val/accuracy": [0.0775] * 20}, axis="epoch")
    yield run({"loss": loss, "accuracy": [0.01] * 20}, axis="epoch", settings={"classes": 10})


def silent() -> Runs:
    yield run({"loss": decay(30, 2.0, 0.1), "accuracy": [0.0] * 30}, axis="epoch")
    yield run({"loss": noisy([0.9] * 30, 0.01), "accuracy": [0.0] * 30}, axis="epoch")
    yield run({"loss": noisy([2.3] * 30, 0.01), "accuracy": [0.1] * 30}, settings={"classes": 10})
