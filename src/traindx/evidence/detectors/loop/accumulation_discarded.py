"""Gradients are thrown away before any step uses them.

Seen when nearly every step is preceded by backward calls on other batches whose gradients were cleared
before the step: `zero_grad` stands inside the loop over the parts of a batch. Only the last part counts;
the work on the others is lost, and the batch is not as large as it seems.

Silent about several optimizers (a critic's gradients are cleared on purpose) and about second looks at one
batch (SAM, line searches).
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._accumulation import accumulation, sketched
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Gradients thrown away unused", needs=("fact:optimizers",), family="accumulation")


def detect(case: Case, *, min_steps: int = 3, step_share: float = 0.8) -> Detected:
    if not case.inside.fact("accumulation"):
        return None
    accumulated = accumulation(case, min_steps)
    if accumulated is None:
        return Skipped("one optimizer")
    matched = accumulated.batches >= step_share * accumulated.backwards
    if accumulated.wasteful < step_share or accumulated.backwards < 1.9 or not matched:
        return None
    times = text(round(accumulated.backwards, 1))
    lost = 1 - 1 / accumulated.backwards
    sentence = (
        f"Of the {times} backward calls before each step only the last one counts: those of the others are "
        f"cleared before the step, {percent(lost)} of the work is lost."
    )
    return Finding(
        sentence, "silent_defect", "high", case.span[0], numbers={"accumulated": times, "lost": percent(lost)}
    )


def fires() -> Runs:
    yield run({"loss": decay(24, 2.0, 0.5)}, facts=sketched(thrown=72, steps_with_thrown=24))


def silent() -> Runs:
    loss = {"loss": decay(24, 2.0, 0.5)}
    yield run(loss, facts=sketched())
    yield run(loss, facts=sketched(thrown=24, steps_with_thrown=24, backwards=48, batches=24))
    yield run(loss, facts={"optimizers": [{"class": "SGD"}]})
