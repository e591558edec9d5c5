"""The first NaN or Inf was in the data.

Told by the autograd graph of the step: what went into the first operation that is not finite was not finite
already and came from outside of the model, as input or as target. The batch, the row and the feature are
named where they can be.

Silent when the batch was finite, and when no recording holds the step.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Run, Runs, Skipped, number
from traindx.evidence.detectors._origin import origin
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="NaN came with the data", needs=("recording",), family="nan_origin")


def detect(case: Case) -> Detected:
    found = origin(case)
    if found is None:
        return Skipped()
    if found.kind != "input":
        return None
    bad = number(found.event.data, "batch_nonfinite")
    told = f" The batch holds {bad:g} values that are no numbers." if bad else ""
    return Finding(
        f"{found.said}.{told} Weights and arithmetic were sound before it.",
        "nonfinite",
        found.severity,
        found.step,
        series="loss",
        places=(found.place,) if found.place is not None else (),
    )


def _run(where: str, operation: str, **data: object) -> Run:
    told = {"where": where, "operation": operation, "batch": 51, **data}
    event = Event("nonfinite", f"{operation} in layer 0: 1 of 192 values", 50.0, told)
    return run({"loss": [*decay(50, 2.0, 0.5), float("nan")]}, events=[event], facts={"version": 2})


def fires() -> Runs:
    yield _run("input", "matrix product", batch_nonfinite=1)


def silent() -> Runs:
    yield _run("loss", "log of 0")
    yield _run("input", "multiplication", batch_nonfinite=0)
