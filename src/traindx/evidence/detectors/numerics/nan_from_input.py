"""The first NaN or Inf was in the data.

Told by the autograd graph of the step: what went into the first operation that is not finite was not finite
already and came from outside of the model, as input or as target. The batch, the row and the feature are
named where they can be.

Silent when the batch was finite, and when no recording holds the step.
"""

from traindx.evidence.detector import Detected, Detector, Event, Run, Runs, number
from traindx.evidence.detectors._origin import RecordedOrigin
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="NaN came with the data", family="nan_origin")


def detect(origin: RecordedOrigin) -> Detected:
    if origin.kind != "input":
        return None
    bad = number(origin.event.data, "batch_nonfinite")
    phrase = f" The batch holds {bad:g} values that are no numbers." if bad else ""
    return origin.finding(f"{origin.said}.{phrase} Weights and arithmetic were sound before it.")


def _run(where: str, operation: str, **data: object) -> Run:
    told = {"where": where, "operation": operation, "batch": 51, **data}
    event = Event("nonfinite", f"{operation} in layer 0: 1 of 192 values", 50.0, told)
    return run({"loss": [*decay(50, 2.0, 0.5), float("nan")]}, events=[event], facts={"version": 2})


def fires() -> Runs:
    yield _run("input", "matrix product", batch_nonfinite=1)


def silent() -> Runs:
    yield _run("loss", "log of 0")
    yield _run("input", "multiplication", batch_nonfinite=0)
