"""The run ran out of memory.

Seen when the log holds an out-of-memory message. The run is lost when nothing was logged after it; when
it went on (a loop that catches the error and skips the batch) it is of medium severity.

Could not look in logs that hold numbers only.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Out of memory", needs=(), family="memory")
# Formats that hold messages; tables of numbers do not.
_SPOKEN = frozenset({"text", "recording"})


def detect(case: Case, *, later_run_share: float = 0.02) -> Detected:
    messages = [event for event in case.run.events if event.kind == "out_of_memory"]
    if not messages:
        spoken = not _SPOKEN.isdisjoint(case.run.formats)
        return None if spoken else Skipped("the console output, where it would be reported")
    steps = [event.step for event in messages if event.step is not None]
    begin, end = case.span
    survived = bool(steps) and end - steps[-1] > later_run_share * (end - begin) and end > steps[-1] + 1
    place = f" at {case.run.axis} {text(steps[-1])}" if steps else ""
    often = f"{len(messages)} times, last" if len(messages) > 1 else "1 time"
    return Finding(
        text=f"The log reports out of memory {often}{place}"
        + (f"; the run went on to {text(end)}." if survived else " and nothing was logged after it."),
        symptom="memory_growth",
        severity="medium" if survived else "critical",
        step=steps[0] if steps else None,
        numbers={"out_of_memory": len(messages)},
        marks=tuple(steps[:20]),
    )


def fires() -> Runs:
    yield run({"loss": [3.0, 2.0, 1.0]}, events=[Event("out_of_memory", "CUDA out of memory", 2.0)])
    yield run({"loss": [1.0] * 500}, events=[Event("out_of_memory", "skipping batch", 50.0)])


def silent() -> Runs:
    yield run({"loss": [3.0, 2.0, 1.0]})
    yield run({"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "ValueError", 2.0)])
