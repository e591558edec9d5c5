"""Validation jumps so much from one evaluation to the next that small changes cannot be told.

Measures the noise of the validation loss (or of an accuracy-like score) over the second half of the
run, against its level and against what it gained there. A small or unrepresentative validation set,
batch statistics over few samples or too high a learning rate make it so, and a single best evaluation is
then luck. A sign, and trouble where training is smooth and the jumps cost much: the loss jumps by
{costly_share} of its level and {costly_of_start} of its first value, {smooth_factor} times as much as that of
training, and so do the scores, if there are any (by {costly_score}).

Silent with fewer than {min_points} evaluations, while the curve still improves by more than its noise, and
for RL and GAN losses. Known mistakes: metrics that are rounded coarsely look noisier than they are.
"""

from dataclasses import replace

import numpy as np

from traindx.evidence.curve import shares
from traindx.evidence.detector import Case, Curve, Detected, Detector, Finding, Runs, Skipped, stats
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.validation import SCORES, evaluations, score
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Validation too noisy to judge",
    needs=("val/*|test/*|map|map50",),
    family="validation_noise",
    guards=("surrogate",),
)


def detect(
    case: Case,
    *,
    loss_noise: float = 0.08,
    score_noise: float = 0.03,
    min_points: int = 8,
    costly_share: float = 0.3,
    costly_of_start: float = 0.12,
    costly_score: float = 0.04,
    smooth_factor: float = 3.0,
) -> Detected:
    looked = False
    for curve in (case.val_loss, *(score(case, name) for name in SCORES[:5])):
        if curve is None or len(curve) < min_points:
            continue
        is_score = curve.goal == "higher"
        if (is_score and shares(curve) is None) or (not is_score and not (curve.y > 0).all()):
            continue
        looked = True
        level, noise, gained = _second_half(curve)
        share = noise / level if not is_score else noise / (100.0 if curve.y.max() > 1.5 else 1.0)
        limit = score_noise if is_score else loss_noise
        if share >= limit and noise >= 0.5 * abs(gained):
            seen = _seen(curve, level, noise, share, limit)
            costly = (
                not is_score
                and share >= costly_share
                and noise >= costly_of_start * curve.head
                and _smooth(case, share, smooth_factor, min_points)
                and all(size >= costly_score for size in _score_noises(case, min_points))
            )
            return replace(seen, symptom="oscillation", severity="medium") if costly else seen
    return None if looked else Skipped(f"at least {min_points} evaluations on validation data")


def _second_half(curve: Curve) -> tuple[float, float, float]:
    """Level, noise between evaluations, and the change from the third to the fourth quarter."""
    _, values = evaluations(curve)
    half = values[values.size // 2 :]
    middle = half.size // 2
    gained = float(np.median(half[middle:]) - np.median(half[:middle]))
    return float(np.median(half)), stats.noise(half), gained


def _smooth(case: Case, share: float, factor: float, points: int) -> bool:
    """Whether the training loss came down and jumps much less than this share of its level."""
    train = case.loss
    if train is None or len(train) < points or not train.course.came_down(share=0.2):
        return False
    level, noise, _ = _second_half(train)
    return noise * factor <= share * abs(level)


def _score_noises(case: Case, points: int) -> list[float]:
    """How much each validation score jumps, as a share of one."""
    curves = [score(case, name) for name in SCORES[:5]]
    return [
        _second_half(curve)[1] / (100.0 if curve.y.max() > 1.5 else 1.0)
        for curve in curves
        if curve is not None and len(curve) >= points and shares(curve) is not None
    ]


def _seen(curve: Curve, level: float, noise: float, share: float, limit: float) -> Finding:
    size = f", {percent(share)} of its level" if curve.goal != "higher" else ""
    sentence = (
        f"{curve.name} jumps by {text(noise)} (standard deviation) from one evaluation to the next{size}: in "
        f"the second half of the run it lies around {text(level)}."
    )
    numbers = {"val_noise": noise, "val_noise_share": share}
    return Finding(sentence, series=curve.name, strength=strength(share, limit, 4.0 * limit), numbers=numbers)


def fires() -> Runs:
    yield run(
        {"loss": decay(40, 2.0, 0.5), "val/loss": noisy(decay(40, 2.0, 0.8), 0.2, seed=3)}, axis="epoch"
    )
    jumps = noisy(np.full(30, 42.0), 7.0, seed=3, relative=False)
    yield run({"loss": decay(30, 2.0, 0.5), "val/accuracy": jumps}, axis="epoch")


def silent() -> Runs:
    yield run({"loss": decay(40, 2.0, 0.5), "val/loss": noisy(decay(40, 2.0, 0.8), 0.02)}, axis="epoch")
    yield run({"loss": decay(5, 2.0, 0.5), "val/loss": [2.0, 1.0, 1.4, 0.8, 1.1]}, axis="epoch")
    yield run({"val/accuracy": noisy(np.full(30, 0.8), 0.005)}, axis="epoch")
