"""An optimizer was made and never took a step.

Seen at the end of a recording: parameters that no other optimizer trains were given to one whose `step` was
never called. When no optimizer stepped at all nothing was learned.

Silent about optimizers that were made for a look at them and whose parameters another one trains, and while
a training still runs.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Optimizer never stepped", needs=("recording",), family="untrained")


def detect(case: Case) -> Detected:
    recorded_events = case.inside.events("optimizer_never_stepped")
    if not recorded_events:
        return None if case.inside.optimizers else Skipped("a recording of an optimizer")
    alone = not case.inside.optimizers
    text = "No optimizer ever stepped" if alone else "An optimizer never stepped"
    return Finding(
        f"{text}: {recorded_events[0].text}. What it holds keeps its first values.",
        "silent_defect",
        "high" if alone else "medium",
        case.span[0],
        numbers={"untrained_share": "100 %"} if alone else {},
    )


def fires() -> Runs:
    event = Event("optimizer_never_stepped", "1 optimizers were made but never stepped: SGD", None)
    yield run({"loss": noisy([1.4] * 60, 0.05)}, events=[event], facts={"version": 2})


def silent() -> Runs:
    yield run({"loss": decay(60, 2.0, 0.5)}, facts={"optimizers": [{"class": "SGD"}]})
    yield run({"loss": decay(60, 2.0, 0.5)}, facts={"version": 2})
