"""Some batches hold values far beyond all others, or values that are no numbers.

Seen when the largest value of one batch is {times_usual} times the largest of the usual batch, in inputs or
in real-valued targets, or when a batch held NaN or Inf.

A sign while the run is calm: it is trouble when the loss leaps as well, many times above its usual level,
more than once after the start. Not a number at all is a defect.
Silent with fewer than 8 batches. Known mistakes: features of long tails (prices, counts) left as they are.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped, number
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.sampled import part, sampled
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Outliers in some batches", needs=("fact:samples|input/*",), family="bad_batch")
_PEAKS = ("input_peak", "target_peak")


def detect(case: Case, *, times_usual: float = 100.0, full_strength_at: float = 10_000.0) -> Detected:
    samples = case.inside.fact("samples")
    bad = number(samples, "nonfinite_batches") or 0.0
    shares = sampled(case, "input/nonfinite", 1)
    if bad or (shares is not None and shares.y.max() > 0):
        step = float(shares.x[int(shares.y.argmax())]) if shares is not None and shares.y.max() > 0 else None
        sentence = f"{max(1, round(bad))} of the sampled batches hold values that are NaN or Inf."
        return Finding(sentence, "silent_defect", "high", step, numbers={"batches": bad})
    peaks = {name: part(samples, name) for name in _PEAKS}
    found = {}
    for name, peak in peaks.items():
        usual, largest = number(peak, "usual"), number(peak, "largest")
        if usual is not None and largest is not None and usual > 0 and largest / usual >= times_usual:
            found[largest / usual] = (name, usual, largest)
    if found:
        ratio = max(found)
        name, usual, largest = found[ratio]
        article = "an input" if name == "input_peak" else "a target"
        leaps = _leaps(case)
        phrase = f"; the loss jumps {leaps} times far above its usual level" if leaps else ""
        return Finding(
            f"One batch holds {article} of {text(largest)}, {times(ratio)} the largest of a usual "
            f"batch{phrase}.",
            symptom="loss_spike" if leaps else None,
            severity="medium" if leaps else "low",
            strength=strength(ratio, times_usual / 3, full_strength_at),
            numbers={"largest": largest, "usual": usual} | _limit(name, usual),
        )
    return None if any(peaks.values()) or shares is not None else Skipped()


def _limit(name: str, usual: float) -> dict[str, float]:
    """Beyond what inputs can be left out: ten times the largest of a usual batch, rounded."""
    return {"outlier_limit": float(f"{10 * usual:.1g}")} if name == "input_peak" else {}


def _leaps(case: Case, *, far: float = 20.0, least: int = 2, points: int = 30) -> int:
    """How often the loss was far above its usual level after the first tenth of the run; 0 when seldom."""
    loss = case.loss
    if loss is None or case.surrogate or len(loss) < points:
        return 0
    later = loss.y[len(loss) // 10 :]
    middle = float(np.median(later))
    count = int((later > far * middle).sum()) if middle > 0 else 0
    return count if count >= least else 0


def fires() -> Runs:
    calm = decay(80, 2.0, 0.3)
    for at in (20, 41, 66):
        calm[at] = 400.0
    struck = {"usual": 3.5, "largest": 2.9e6, "batches": 40}
    yield run({"loss": calm}, facts={"samples": {"taken": 9, "nonfinite_batches": 0, "input_peak": struck}})

    yield run({}, facts={"samples": {"taken": 900, "nonfinite_batches": 2}})
    peak = {"usual": 3.5, "largest": 2.9e6, "batches": 40}
    yield run({}, facts={"samples": {"taken": 900, "nonfinite_batches": 0, "input_peak": peak}})


def silent() -> Runs:
    peak = {"usual": 3.5, "largest": 5.1, "batches": 40}
    yield run({}, facts={"samples": {"taken": 900, "nonfinite_batches": 0, "input_peak": peak}})
    tail = {"usual": 3e3, "largest": 9e4, "batches": 40}
    yield run({}, facts={"samples": {"taken": 900, "nonfinite_batches": 0, "input_peak": tail}})
