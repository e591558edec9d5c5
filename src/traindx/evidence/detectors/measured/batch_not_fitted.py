"""A copy of the model cannot fit a single batch.

Trained on one batch and nothing else, a sound model drives its loss towards zero. Seen when {min_steps}
steps of Adam leave {left_share:%} of the first loss or more: gradients, loss, labels or architecture are at
fault. A sign where the labels of the batch may be pure noise of a regression.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, Skipped, number
from traindx.evidence.detectors._number_text import percent
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="One batch cannot be fitted", needs=("fact:overfit",), family="fit")


def detect(run: Run, *, left_share: float = 0.6, min_steps: int = 100) -> Detected:
    fact = run.facts["overfit"]
    before, after, steps = (number(fact, key) for key in ("before", "after", "steps"))
    if not before or after is None or steps is None or before <= 0:
        return Skipped("a positive loss of one batch")
    if steps < min_steps or after < left_share * before:
        return None
    return Finding(
        text=f"A copy of the model does not fit one batch: {steps:.0f} steps on nothing else leave "
        f"{percent(after / before)} of its loss ({before:.4g} to {after:.4g}).",
        symptom="not_learning",
        severity="high",
        numbers={"left_share": after / before, "steps": steps},
    )


def _of(after: float) -> Run:
    return sketched({}, facts={"overfit": {"before": 2.3, "after": after, "steps": 150}})


def fires() -> Runs:
    yield _of(2.2)


def silent() -> Runs:
    yield _of(0.1)
    yield sketched({}, facts={"overfit": {"before": 2.3, "after": 0.04, "steps": 20}})
