"""A notable share of the optimizer steps was skipped.

Counts skipped or NaN steps that the log reports, or the overflows it reports, against all steps. A loss
scaler skips a handful at the start and about one in a thousand or two later on; seen when it is
{skipped_share} of all or more and clearly more than that start.

Silent when the count cannot be one of steps (more skipped than made).
Known mistakes: a log reports at most 200 overflows, so long runs may have skipped more.
"""

import numpy as np

from traindx.evidence.detector import Case, Curve, Detected, Detector, Event, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Optimizer steps skipped", needs=(), family="overflow")


def detect(
    case: Case, *, skipped_share: float = 0.02, large_share: float = 0.2, allowed_at_start: int = 20
) -> Detected:
    begin, end = case.span
    steps = end - begin
    counts = [_total(curve) for name in ("skipped_steps", "nan_steps") if (curve := case.curve(name))]
    overflows = [e for e in case.run.events if e.kind == "overflow"]
    if not counts and not overflows:
        return Skipped("skipped steps (skipped_steps) or overflow messages in the log")
    if case.run.axis != "step" or steps < 1:
        return Skipped("a log that counts steps")
    total = max([*counts, float(len(overflows))])
    part = total / steps
    if part > 1 or total <= allowed_at_start or part < skipped_share:
        return None
    first = next((e.step for e in overflows if e.step is not None), None)
    return Finding(
        text=f"{text(total)} of {text(steps)} steps ({percent(part)}) were skipped: overflow or NaN.",
        symptom="nonfinite",
        severity="high" if part >= large_share else "medium",
        step=first,
        series="skipped_steps" if counts else None,
        strength=strength(part, skipped_share, large_share),
        numbers={"skipped_share": percent(part), "skipped": total},
    )


def _total(curve: Curve) -> float:
    """The number at the end of a running count, else the sum of the counts."""
    values = curve.y
    if not values.size or values.min() < 0:
        return 0.0
    running = values.size > 1 and bool((np.diff(values) >= 0).all()) and values[-1] > 0
    return float(values[-1]) if running else float(values.sum())


def fires() -> Runs:
    yield run({"loss": [1.0] * 400, "skipped_steps": np.arange(400) // 4})
    overflows = [Event("overflow", "OVERFLOW!", float(n)) for n in range(0, 300, 5)]
    yield run({"loss": [1.0] * 300}, events=overflows)


def silent() -> Runs:
    yield run({"loss": [1.0] * 400, "skipped_steps": [0.0] * 400})
    yield run({"loss": [1.0] * 40}, events=[Event("overflow", "OVERFLOW!", float(n)) for n in range(12)])
    yield run({"loss": [1.0] * 400, "skipped_steps": np.arange(400) * 7})
    yield run({"loss": [1.0] * 4000, "skipped_steps": np.arange(4000) // 1000})
