"""The loss jumps up where the run was resumed.

Compares the loss right before each resume with the loss right after it. Seen when it stands higher by a
tenth and by far more than its noise: weights, optimizer or schedule were not (fully) restored, or the
data begins anew. Of medium severity when a quarter or more was lost and the loss never came back.

Silent when the log tells of no resume.
Known mistakes: a resume with other data or another loss is meant to stand elsewhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from traindx.case import Case
from traindx.core import Event, Finding, Run, Skipped
from traindx.detectors._numbers import percent, strength, text, where
from traindx.units import Detector

DETECTOR = Detector(title="Loss jumps at a resume", needs=("loss",), family="resume")


def detect(
    case: Case, *, share: float = 0.1, noises: float = 5.0, large: float = 0.25, points: int = 10
) -> Finding | Skipped | None:
    loss, resumes = case.loss, case.events("resume")
    if loss is None:
        return Skipped("a training loss")
    if not resumes or loss.axis != case.run.axis:
        return None
    if case.surrogate:
        return Skipped("a loss that says something about progress")
    worst: tuple[float, float, float, float] | None = None
    for step in resumes:
        before = loss.y[loss.x < step][-points:]
        after = loss.y[loss.x >= step][:points]
        if before.size < 3 or after.size < 2:
            continue
        old, new = float(np.median(before)), float(np.median(after[: max(2, after.size // 2)]))
        doubt = noises * 1.25 * loss.noise * (1.0 / before.size + 2.0 / after.size) ** 0.5
        if new - old > max(share * abs(old), doubt) and (worst is None or new - old > worst[3]):
            worst = (step, old, new, new - old)
    if worst is None:
        return None
    step, old, new, jump = worst
    size = jump / abs(old) if old else 1.0
    lasting = loss.tail > old + 0.5 * jump
    back = "it has not come back" if lasting else f"it is back at {text(loss.tail)} by the end"
    return Finding(
        text=f"The loss jumps from {text(old)} to {text(new)} ({percent(size)} up) where the run resumed, at "
        f"{where(loss, step)}; {back}.",
        symptom="loss_spike",
        severity="medium" if lasting and size >= large else "low",
        step=step,
        series=loss.name,
        strength=strength(size, share, 1.0),
        numbers={"onset": step, "jump": jump},
        marks=tuple(resumes[:20]),
    )


def fires() -> Iterator[Run]:
    from traindx.sketch import decay, noisy, run

    resumed = [Event("resume", "resumed", 100.0)]
    lost = noisy(np.concatenate([decay(100, 3.0, 1.0), decay(100, 2.5, 2.0)]), 0.02)
    yield run({"loss": lost}, events=resumed)
    brief = noisy(np.concatenate([decay(100, 3.0, 1.0), decay(100, 2.0, 0.9, rate=10)]), 0.02)
    yield run({"loss": brief}, events=resumed)


def silent() -> Iterator[Run]:
    from traindx.sketch import decay, noisy, run

    yield run({"loss": noisy(decay(200, 3.0, 1.0), 0.02)}, events=[Event("resume", "resumed", 100.0)])
    yield run({"loss": noisy(decay(200, 3.0, 1.0), 0.3)}, events=[Event("resume", "resumed", 150.0)])
    yield run({"loss": np.concatenate([decay(100, 3.0, 1.0), decay(100, 2.5, 2.0)])})
    yield run({"loss": [3.0, 2.0]}, events=[Event("resume", "resumed", None)])
