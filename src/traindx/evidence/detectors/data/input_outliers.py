"""Some batches hold values far beyond all others, or values that are no numbers.

Seen when the largest value of one batch is {times_usual} times the largest of the usual batch, in inputs or
in real-valued targets, or when a batch held NaN or Inf. Batches at which the loss leapt were measured too,
whether or not their step was sampled.

A sign while the run is calm: it is trouble when the loss leaps as well, many times above its usual level,
more than once after the start. Not a number at all is a defect.
Silent with fewer than 8 batches, and about targets in reinforcement learning, which the model makes itself.
Known mistakes: features of long tails (prices, counts) left as they are.
"""

from typing import NamedTuple

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped, number
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
    own = ("input_peak",) if "rl" in case.traits else _PEAKS
    peaks = [extreme for name in own if (extreme := _extreme(case, name)) and extreme.ratio >= times_usual]
    if peaks:
        worst = max(peaks, key=lambda extreme: extreme.ratio)
        article = "an input" if worst.name == "input_peak" else "a target"
        leaps = _leaps(case)
        phrase = f"; the loss jumps {leaps} times far above its usual level" if leaps else ""
        at = worst.step
        batch = "One batch" if at is None else f"The batch of step {text(at)}, where the loss leaps,"
        return Finding(
            f"{batch} holds {article} of {text(worst.largest)}, {times(worst.ratio)} the largest of a usual "
            f"batch{phrase}.",
            symptom="loss_spike" if leaps else None,
            step=at,
            strength=strength(worst.ratio, times_usual / 3, full_strength_at),
            numbers={"largest": worst.largest, "usual": worst.usual} | _limit(worst.name, worst.usual),
        )
    measured = shares is not None or any(part(samples, name) for name in _PEAKS)
    return None if measured else Skipped()


class _Extreme(NamedTuple):
    """The largest size of a value in a usual batch and in any; the step where that one made the loss leap."""

    name: str
    usual: float
    largest: float
    step: float | None

    @property
    def ratio(self) -> float:
        return self.largest / self.usual


def _extreme(case: Case, name: str) -> _Extreme | None:
    peak = part(case.inside.fact("samples"), name)
    usual = number(peak, "usual") or _usual(case, name.removesuffix("_peak"))
    if not usual:
        return None
    leaps = {number(event.data, name) or 0.0: event.step for event in case.inside.events("loss_leap")}
    largest = max(number(peak, "largest") or 0.0, *leaps, 0.0)
    return _Extreme(name, usual, largest, leaps.get(largest))


def _usual(case: Case, name: str) -> float | None:
    """The largest size of a value in a usual batch, where only single samples tell."""
    low, high = sampled(case, f"{name}/min", 4), sampled(case, f"{name}/max", 4)
    if low is None or high is None or len(low) != len(high):
        return None
    return float(np.median(np.maximum(np.abs(low.y), np.abs(high.y))))


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
    usual = {"input/min": [-3.0] * 6, "input/max": [2.5] * 6}
    yield run(usual, events=[Event("loss_leap", "", 41.0, {"loss": 900.0, "input_peak": 5e4})])


def silent() -> Runs:
    peak = {"usual": 3.5, "largest": 5.1, "batches": 40}
    yield run({}, facts={"samples": {"taken": 900, "nonfinite_batches": 0, "input_peak": peak}})
    tail = {"usual": 3e3, "largest": 9e4, "batches": 40}
    yield run({}, facts={"samples": {"taken": 900, "nonfinite_batches": 0, "input_peak": tail}})
    usual = {"input/min": [-3.0] * 6, "input/max": [2.5] * 6}
    yield run(usual, events=[Event("loss_leap", "", 41.0, {"loss": 900.0, "input_peak": 4.1})])
