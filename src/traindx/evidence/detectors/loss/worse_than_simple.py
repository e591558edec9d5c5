"""The model answers its training data worse than a straight line or neighbours tell unseen ones.

The recorder keeps a few hundred samples with their targets and lets a ridge regression and a vote of twelve
neighbours tell each target from the others. Seen when these tell clearly more than the model does at its
end: {accuracy_gap:%} more right answers, or {variance_gap:%} of the variance; twice as much within the first
{few_steps} steps, three times as much where dropout is in all that is known. None of 199 healthy trainings
comes near. What the model does is the best of its answers looked at, of its training loss and of a logged
score, on validation data too unless dropout of 0.8 or more is itself the trouble. It counts as low where the
training was stopped while its loss still falls and the model is more than half way there. Where a whole
training ends while its loss falls by {late_fall:%} within its last third, it was too slow.

Silent where they tell nothing, for runs under {min_steps} steps, without one target for each sample, and for
losses whose outputs are not numbers to compare with the targets (Poisson with a log rate, cosine,
divergences). Known mistakes: heavy augmentation without validation, which holds the training answers down.
"""

from typing import Any

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import run

DETECTOR = Detector(title="Worse than a simple model", needs=("fact:samples",), family="learning")


def detect(
    case: Case,
    *,
    accuracy_gap: float = 0.08,
    variance_gap: float = 0.1,
    late_fall: float = 0.15,
    z_score: float = 5.0,
    min_steps: int = 100,
    few_steps: int = 300,
) -> Detected:
    comparison = case.level.against_simple
    if comparison is None:
        return Skipped("samples of outputs and targets")
    if comparison.step < min_steps:
        return Skipped(f"at least {min_steps} steps")
    if comparison.z < z_score or comparison.simple < 0.1:
        return Skipped()
    simple, reached, classes = comparison.simple, comparison.reached, comparison.classes
    allowed = 2.0 if comparison.step < few_steps else 1.0
    if case.level.held_down_by_dropout():
        allowed = 3.0
    gap = allowed * (accuracy_gap if classes else variance_gap)
    if simple - reached < gap:
        return None
    measure = "of the training answers are right" if classes else "of the variance is explained"
    lost = reached < 0.5 * simple
    falls = case.loss is not None and case.loss.course.still_falls(share=late_fall)
    return Finding(
        f"{percent(max(0.0, reached))} {measure}; a straight line or a vote of neighbours reaches "
        f"{percent(simple)} on samples it has not seen.",
        symptom="not_learning" if lost else "slow_convergence" if falls else "underfitting",
        severity="medium" if lost or not _on_its_way(case) else "low",
        numbers={"reached": reached, "simple": simple},
    )


def _on_its_way(case: Case) -> bool:
    """Whether the training was stopped while its loss was falling."""
    return case.inside.stopped and case.loss is not None and case.loss.course.still_falls()


def _facts(best: float, z: float, classes: int) -> dict[str, Any]:
    return {"samples": {"taken": 900, "relation": {"told": best, "z": z, "classes": classes, "samples": 500}}}


def _squares(best: float) -> dict[str, Any]:
    return {**_facts(best, 20, 0), "losses": [{"function": "mse_loss", "target_shape": "16x1"}]}


def fires() -> Runs:
    x = [1, 4, 16, 64, 200, 400]
    yield run({"output/explained": (x, [-0.5, 0, 0, 0.02, 0.01, 0.01])}, facts=_facts(0.6, 20, 0))
    yield run({"output/right_share": (x, [0.2, 0.2, 0.2, 0.25, 0.2, 0.2])}, facts=_facts(0.95, 20, 5))
    yield run({"output/explained": (x, [-0.5, 0, 0.5, 0.8, 0.86, 0.86])}, facts=_facts(0.99, 200, 0))


def silent() -> Runs:
    x = [1, 4, 16, 64, 200, 400]
    yield run({"output/explained": (x, [-0.5, 0, 0.2, 0.6, 0.7, 0.8])}, facts=_facts(0.6, 20, 0))
    yield run({"output/right_share": (x, [0.2, 0.2, 0.2, 0.25, 0.2, 0.2])}, facts=_facts(0.21, 0.3, 5))
    early = [1, 2, 4, 8, 16, 32]
    yield run({"output/right_share": (early, [0.2] * 6)}, facts=_facts(0.9, 20, 5))
    behind = (x, [-0.5, 0, 0.1, 0.2, 0.55, 0.57])
    falls = np.geomspace(2.0, 0.4, 400)
    yield run({"output/explained": behind, "loss": falls, "target/std": [1.4] * 6}, facts=_squares(0.79))
    rate = {**_facts(0.6, 20, 0), "losses": [{"function": "poisson_nll_loss", "target_shape": "50"}]}
    yield run({"output/explained": (x, [-0.5, 0, 0, 0.02, 0.01, 0.01])}, facts=rate)
    dropout = {"models": [{"dropout": [0.5]}], **_facts(0.9, 20, 5)}
    yield run({"output/right_share": (x, [0.2, 0.2, 0.3, 0.5, 0.65, 0.7])}, facts=dropout)
