"""A training accuracy that is too low."""

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Cases, Curve, Detected, Detector, Finding, Skipped, stats
from traindx.evidence.detectors._number_text import strength, text
from traindx.evidence.validation import last_level
from traindx.testing.sketch import decay, noisy, run


@Detector(
    "Accuracy below chance", family="below_chance", explains=("accuracy_at_chance",), guards=("surrogate",)
)
def accuracy_below_chance(
    case: Case,
    accuracy: Curve,
    loss: Curve,
    *,
    chance_share: float = 0.3,
    max_loss_fall: float = 0.1,
    min_points: int = 8,
    max_classes: int = 50,
) -> Detected:
    """The training accuracy lies far below what guessing gives.

    Guessing is right once in K times; to be right much less often a model must be led away from the answer.
    Data sorted by class do that (the model answers with the class of the batch before), and labels that are
    shifted against their inputs or against the classes of the output. Seen when the training accuracy stays
    under {chance_share} of 1/K, K being known from the settings or from the first losses and accuracies, or
    under that share of the validation accuracy, while the loss does not fall.

    Silent when the loss falls (an accuracy that is logged for a regression is 0 for no reason), without any
    hint that there are classes, with fewer than {min_points} values, and for RL and GAN training.
    Known mistakes: an accuracy that compares whole vectors is 0 for long in good order.
    """
    part = shares(accuracy)
    if part is None:
        return Skipped(f"at least {min_points} values of the training accuracy and loss")
    if loss.head <= 0 or (loss.head - last_level(loss.y)) / loss.head > max_loss_fall:
        return Skipped("a loss that does not fall: then the accuracy alone is odd")
    classes = case.task.classes
    held_out = shares(case.val("accuracy"))
    guess, basis = 0.0, ""
    if classes is not None and classes <= max_classes:
        guess = 1.0 / classes
        basis = f"guessing among {classes} classes gives {text(guess)}"
    elif held_out is not None and held_out.size >= min_points:
        guess = float(np.median(held_out))
        basis = f"on validation data the same model has {text(guess)}"
    if guess < 1.0 / max_classes:
        return Skipped("the number of classes in the configuration")
    later = part[part.size // 3 :]
    if float(later.mean()) > chance_share * guess:
        return None
    return Finding(
        f"The training accuracy is {text(float(later.mean()))} over the last {later.size} values: {basis}. "
        "Something leads the model away from the answer.",
        "not_learning",
        "medium",
        step=float(accuracy.x[part.size // 3]),
        end=float(accuracy.x[-1]),
        numbers={"accuracy": float(later.mean()), "chance_accuracy": guess},
    )


@Detector("Training accuracy low", family="fit", harms="fit", guards=("surrogate",))
def accuracy_low_on_train(
    case: Case,
    accuracy: Curve,
    *,
    reached_share: float = 0.5,
    poor_share: float = 0.6,
    min_gain: float = 0.02,
    long_run: int = 20,
    min_points: int = 8,
) -> Detected:
    """The training accuracy ends low and no longer rises.

    A model that cannot even fit what it trains on: less than half of the way from chance to 1 when the
    number of classes is known, below one half otherwise, and without gain over the last third of the run. A
    sign for underfitting, and against memorising. In a log of {long_run} values and more with a validation
    accuracy that ends no higher, trouble by itself below {poor_share} of the way: neither side is fitted.
    Low for a fine-tuning, and where a recording shows that the rest is noise.

    When it is low but still rises nothing can be said yet. Silent with fewer than {min_points} values, for
    language models (token accuracy has its own ceiling), for regressions (an accuracy near zero says nothing
    there), and for RL and GAN losses. Known mistakes: strong augmentation or mixup lower the training
    accuracy without harm.
    """
    part = shares(accuracy)
    if len(accuracy) < min_points:
        return Skipped(f"at least {min_points} values of the training accuracy")
    tokens = case.task.predicts_tokens or "token" in accuracy.series.source.lower()
    if part is None or tokens or float(np.median(part)) < 0.02:
        return Skipped("an accuracy of classes")
    third = part.size // 3
    last = float(np.median(part[-max(1, third // 2) :]))
    before = float(np.median(part[-third : -max(1, third // 2)]))
    classes = case.task.classes
    chance = 1.0 / classes if classes else 0.0
    way = (last - chance) / (1.0 - chance)
    held_out = shares(case.val("accuracy"))
    finite = case.loss is None or not case.loss.broken
    poor = finite and held_out is not None and part.size >= long_run and not case.inside.recorded
    if way >= (poor_share if poor else reached_share):
        return None
    # Accuracies of small batches scatter: a gain must be more than that.
    error = 1.25 * float(part[-third:].std()) * float(np.sqrt(4.0 / third))
    if (
        last - before > max(min_gain * max(last, 0.1), min(error, 0.5 * last))
        or stats.trend(accuracy.x[-third:], part[-third:]).z > 3.0
    ):
        return Skipped("a longer run: the training accuracy is low but still rises")
    if held_out is not None and float(np.median(held_out[-3:])) > max(1.15 * last, last + 0.05):
        return Skipped("a training accuracy on plain data: it is made harder than validation on purpose")
    phrase = f" (guessing among {classes} classes gives {text(chance)})" if classes else ""
    gained = max(last - before, 0.0)
    return Finding(
        f"The training accuracy ends at {text(last)}{phrase} and gained {text(gained)} over the last sixth "
        "of the run.",
        "underfitting" if poor and way > 0.05 else None,
        "medium",
        step=float(accuracy.x[-third]),
        strength=max(strength(reached_share / max(way, 0.02), 1.0, 4.0), 0.6 if poor else 0.0),
        numbers={"train_accuracy": last, "fitted": way},
    )


def cases() -> Cases:
    loss = noisy([2.55] * 20, 0.005)
    yield from accuracy_below_chance.fires(
        run({"loss": loss, "accuracy": [0.11, *[0.0] * 19], "val/accuracy": [0.0775] * 20}, axis="epoch"),
        run({"loss": loss, "accuracy": [0.01] * 20}, axis="epoch", settings={"classes": 10}),
    )
    yield from accuracy_below_chance.silent(
        run({"loss": decay(30, 2.0, 0.1), "accuracy": [0.0] * 30}, axis="epoch"),
        run({"loss": noisy([0.9] * 30, 0.01), "accuracy": [0.0] * 30}, axis="epoch"),
        run({"loss": noisy([2.3] * 30, 0.01), "accuracy": [0.1] * 30}, settings={"classes": 10}),
    )
    flat = noisy(np.concatenate([np.linspace(0.1, 0.3, 10), np.full(40, 0.3)]), 0.01)
    yield from accuracy_low_on_train.fires(run({"accuracy": flat}, axis="epoch", settings={"classes": 10}))
    yield from accuracy_low_on_train.fires(run({"accuracy": 100 * flat}, axis="epoch"))
    yield from accuracy_low_on_train.silent(
        run({"accuracy": noisy(0.9 - decay(50, 0.8, 0.0), 0.01)}, axis="epoch"),
        run({"accuracy": np.linspace(0.1, 0.4, 50)}, axis="epoch"),
        run({"accuracy": [0.0] * 30, "loss": decay(30, 2.0, 0.1)}, axis="epoch"),
        run({"accuracy": [0.4] * 50, "loss": decay(50, 10.8, 3.2)}),
    )
