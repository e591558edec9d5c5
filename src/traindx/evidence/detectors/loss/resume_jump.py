"""The loss jumps up where the run was resumed.

Compares the loss right before each resume with the loss right after it. Seen when it stands higher by a tenth
and by far more than its noise: weights, optimizer or schedule were not (fully) restored, or the data begins
anew. High when the loss is back where the run once began ({high_progress_lost} of its progress gone): the
weights were not loaded. Medium when {medium_progress_lost} of the progress was lost.

Silent when the log reports no resume.
Known mistakes: a resume with other data or another loss is meant to stand elsewhere.
"""

from dataclasses import dataclass

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Event, Finding, Runs, Severity, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text, where
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Loss jumps at a resume", needs=("loss",), family="resume")


@dataclass(frozen=True)
class _Jump:
    """A resume: the raw values around it, the level before, and how far the loss stands above it."""

    step: float
    last: float
    first: float
    old: float
    rise: float


def detect(
    case: Case,
    *,
    jump_share: float = 0.1,
    jump_noises: float = 5.0,
    medium_progress_lost: float = 0.3,
    high_progress_lost: float = 0.8,
    min_points: int = 10,
) -> Detected:
    loss, resumes = case.loss, case.events("resume")
    if loss is None:
        return Skipped("a training loss")
    if not resumes or loss.axis != case.run.axis:
        return None
    if case.surrogate:
        return Skipped("a loss that says something about progress")
    jumps = [
        jump
        for step in resumes
        if (jump := _jump(loss, step, min_points, jump_share, jump_noises)) is not None
    ]
    if not jumps:
        return None
    worst = max(jumps, key=lambda jump: jump.rise)
    size = worst.rise / abs(worst.old) if worst.old else 1.0
    start = max(loss.head, float(loss.y[0]))
    gain = start - worst.old
    lost = min(worst.rise / gain, 1.0) if gain > max(0.1 * abs(worst.old), jump_noises * loss.noise) else 0.0
    severity: Severity = (
        "high" if lost >= high_progress_lost else "medium" if lost >= medium_progress_lost else "low"
    )
    if loss.tail > worst.old + 0.5 * worst.rise:
        back = f"it has not come back (it ends at {text(loss.tail)})"
        severity = "medium" if severity == "low" and size >= medium_progress_lost else severity
    else:
        back = f"it is back at {text(loss.tail)} by the end"
    setback = f"; {percent(lost)} of the progress since the start ({text(start)}) is lost" if lost > 0 else ""
    return Finding(
        text=f"The loss jumps from {worst.last:.4g} to {worst.first:.4g} where the run resumed, at "
        f"{where(loss, worst.step)}{setback}; {back}.",
        symptom="loss_spike",
        severity=severity,
        step=worst.step,
        series=loss.name,
        strength=strength(max(size, lost), jump_share, 1.0),
        numbers={"onset": worst.step, "jump": worst.rise, "progress_lost": lost},
        marks=tuple(resumes[:20]),
    )


def _jump(loss: Curve, step: float, points: int, share: float, noises: float) -> _Jump | None:
    """The jump at a resume. Its step may be the last one before or the first one after: the larger counts."""
    places = {int(np.searchsorted(loss.x, step, side=side)) for side in ("left", "right")}
    places = {at for at in places if at >= 3 and len(loss) - at >= 2}
    if not places:
        return None
    at = max(places, key=lambda place: float(loss.y[place] - loss.y[place - 1]))
    before, after = loss.y[max(0, at - points) : at], loss.y[at : at + points]
    old, new = float(np.median(before)), float(np.median(after[: max(2, after.size // 2)]))
    doubt = noises * 1.25 * loss.noise * (1.0 / before.size + 2.0 / after.size) ** 0.5
    if new - old <= max(share * abs(old), doubt):
        return None
    # Where the loss is learned anew quickly, the first value tells best how far it was thrown back.
    first = float(after[0])
    rise = max(new, first) - old if after[1] > old + 3 * loss.noise else new - old
    return _Jump(float(loss.x[at]), float(before[-1]), first, old, rise)


def fires() -> Runs:
    resumed = [Event("resume", "resumed", 100.0)]
    lost = noisy(np.concatenate([decay(100, 3.0, 1.0), decay(100, 2.5, 2.0)]), 0.02)
    yield run({"loss": lost}, events=resumed)
    brief = noisy(np.concatenate([decay(100, 3.0, 1.0), decay(100, 2.0, 0.9, rate=10)]), 0.02)
    yield run({"loss": brief}, events=resumed)


def silent() -> Runs:
    yield run({"loss": noisy(decay(200, 3.0, 1.0), 0.02)}, events=[Event("resume", "resumed", 100.0)])
    yield run({"loss": noisy(decay(200, 3.0, 1.0), 0.3)}, events=[Event("resume", "resumed", 150.0)])
    yield run({"loss": np.concatenate([decay(100, 3.0, 1.0), decay(100, 2.5, 2.0)])})
    yield run({"loss": [3.0, 2.0]}, events=[Event("resume", "resumed", None)])
