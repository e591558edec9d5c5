"""One huge gradient out of a long calm threw the weights out, and the next values overflow.

Told by the autograd graph of the step (a plain overflow, no operation at its edge, no bad data) and by the
gradient norm, which was calm and leapt right before it: a rare steep place, a long sequence or an outlier,
and nothing clipped it. Of a recurrent model without clipping the loss is believed as well, where it leapt
out of 30 calm steps: the norm is not written down at every step.

Silent when the growth took many steps (nan_after_growth), and under about 10 steps.
"""

from traindx.evidence.detector import Detected, Detector, Event, Run, Runs
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.testing.sketch import run

DETECTOR = Detector(title="NaN after one huge gradient", family="nan_origin")


def detect(origin: RecordedOrigin) -> Detected:
    if origin.kind != "growth" or not origin.burst:
        return None
    return origin.finding(f"{origin.said}; before it {origin.burst}.")


def _run(norms: list[float], leap: float = 1.0, *, recurrent: bool = False) -> Run:
    told = {"where": "weights", "operation": ""}
    event = Event("nonfinite", "the weights held NaN before the forward pass", len(norms) - 1.0, told)
    loss = [*[1.0] * (len(norms) - 1), leap, float("nan")]
    models = [{"class": "Net", "recurrent": recurrent}]
    return run({"loss": loss, "grad_norm": norms}, events=[event], facts={"models": models})


def fires() -> Runs:
    yield _run([1.0, 1.3, 0.8] * 20 + [1.1, 4e6])
    yield _run([1.0, 1.3, 0.8] * 20, 400.0, recurrent=True)


def silent() -> Runs:
    yield _run([1.0, 1.3, 0.8] * 20)
    yield _run([1.0, 1.3, 0.8] * 20, 400.0)
    yield _run([10.0**power for power in range(30)])
