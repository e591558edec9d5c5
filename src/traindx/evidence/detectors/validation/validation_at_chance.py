"""Training answers become right; on validation data they stay what guessing gives, from first to last.

What is learned holds for the training data alone: labels that do not belong to their inputs, validation data
of another kind, or far too few samples. Training answers are those of the logged accuracy or of recorded
batches. Guessing gives the share of the largest class where the targets were recorded, else 1/K.

Seen when training is at least 12 points above guessing, beyond its noise, and {min_points} or more
evaluations keep within a quarter of that gain, none of them above two fifths. High when training has gone
half of the way from guessing to all right.

Silent when validation was ever better, and when it is far below guessing (see accuracy_below_chance). Could
not look when the number of classes is not known, and at RL and GAN training.
Known mistakes: skill that comes long after memorising (grokking) is still to come; an accuracy of whole
sequences beside that of single tokens.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.evidence.sampled import odd_objective, one_target_each, sampled
from traindx.testing.sketch import decay, run

DETECTOR = Detector(
    title="Validation at chance",
    needs=("accuracy|output/right_share", "val/accuracy|test/accuracy"),
    family="generalisation",
    explains=("slow_decline", "gap_wide", "validation_parts"),
)


def detect(
    case: Case,
    *,
    train_gain: float = 0.12,
    z_score: float = 4.0,
    mean_gain_share: float = 0.25,
    best_gain_share: float = 0.4,
    min_points: int = 4,
) -> Detected:
    if odd_objective(case):
        return Skipped("one objective that outputs and targets are compared by")
    held_out, part = case.val("accuracy"), shares(case.val("accuracy"))
    if held_out is None or part is None or part.size < min_points:
        return Skipped(f"at least {min_points} values of the validation accuracy")
    guessed = _guessed(case)
    trained = max((_level(curve) for curve in _training(case)), default=None)
    if guessed is None or trained is None:
        return Skipped("the number of classes, and the training accuracy")
    right, error = trained
    above = right - guessed[0]
    if above < max(train_gain, z_score * error):
        return None
    late = part[part.size // 2 :]
    if max(float(part.mean()), float(late.mean())) > guessed[0] + mean_gain_share * above:
        return None
    if float(part.max()) > guessed[0] + best_gain_share * above or float(part.mean()) < 0.6 * guessed[1]:
        return None
    return Finding(
        f"{percent(right)} of the training answers are right in the end; of those on validation data "
        f"{percent(float(late.mean()))}, at best {percent(float(part.max()))} in {part.size} evaluations: "
        f"guessing gives {percent(guessed[0])}.",
        "overfitting",
        "high" if above >= 0.5 * (1.0 - guessed[0]) else "medium",
        step=float(held_out.x[0]),
        end=float(held_out.x[-1]),
        series=held_out.name,
        numbers={"train_last": right, "val_last": float(late.mean()), "chance_accuracy": guessed[0]},
        marks=(float(held_out.x[0]),),
    )


def _guessed(case: Case) -> tuple[float, float] | None:
    """What the largest class alone gives, and what guesses by the shares of the classes give."""
    class_shares = case.task.class_shares if one_target_each(case) else {}
    if len(class_shares) > 1:
        return max(class_shares.values()), sum(share * share for share in class_shares.values())
    classes = case.task.classes
    return (1.0 / classes, 1.0 / classes) if classes else None


def _training(case: Case) -> Iterator[Curve]:
    logged = case.curve("accuracy")
    if logged is not None and len(logged) >= 3 and shares(logged) is not None:
        yield logged
    recorded = sampled(case, "output/right_share", 6)
    if recorded is not None and one_target_each(case):
        yield recorded


def _level(curve: Curve) -> tuple[float, float]:
    """The share of right answers in the last part, and its error."""
    part = shares(curve)
    late = part[-max(3, part.size // 4) :] if part is not None else np.zeros(1)
    return float(late.mean()), float(late.std() / np.sqrt(late.size))


def _recorded(right: list[float], val: list[float], **classes: int) -> Run:
    counts: dict[str, Any] = {key[1:]: count for key, count in classes.items()}
    return run({"output/right_share": right, "val/accuracy": val}, facts={"classes": counts})


def fires() -> Runs:
    rising = [0.46, 0.52, 0.5, 0.58, 0.6, 0.56, 0.64, 0.68, 0.66, 0.7, 0.68, 0.72]
    yield _recorded(rising, [0.505, 0.48, 0.475, 0.47, 0.49, 0.46], c0=510, c1=490)
    skewed = [0.7, 0.78, 0.8, 0.82, 0.9, 0.95, 0.99, 1.0, 1.0, 1.0, 1.0, 1.0]
    yield _recorded(skewed, [0.78, 0.74, 0.71, 0.7, 0.69], c0=780, c1=220)
    logged = {"accuracy": [11.0, 25.0, 50.0, 70.0, 80.0], "val/accuracy": [10.1, 9.8, 10.4, 9.7, 10.2]}
    yield run({"loss": decay(5, 2.3, 0.6), **logged}, axis="epoch", settings={"classes": 10})


def silent() -> Runs:
    rising = [0.46, 0.52, 0.5, 0.58, 0.6, 0.66, 0.74, 0.78, 0.76, 0.8, 0.78, 0.82]
    yield _recorded(rising, [0.51, 0.52, 0.55, 0.6, 0.63], c0=510, c1=490)
    yield _recorded([0.5, 0.52, 0.48, 0.54, 0.5, 0.51, 0.53, 0.5], [0.5, 0.51, 0.5, 0.49], c0=510, c1=490)
    yield _recorded([0.9, 0.95, 0.96, 0.97, 0.97, 0.98, 0.98, 0.99], [0.95] * 5, c0=950, c1=50)
    yield _recorded(rising, [0.7, 0.66, 0.55, 0.5, 0.5, 0.5], c0=510, c1=490)
    logged = {"accuracy": [0.2, 0.6, 0.8, 0.9, 0.95], "val/accuracy": [0.3, 0.6, 0.7, 0.72, 0.72]}
    yield run({"loss": decay(5, 2.3, 0.2), **logged}, axis="epoch", settings={"classes": 10})
