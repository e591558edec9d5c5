"""The program ended with an error.

Seen when the last line of a log is an exception: what the curves show is not the whole training. A
sign; the error itself says what broke. Out of memory is another finding.

Could not look in logs that hold numbers only. Silent when the run went on after the error, or a later
attempt resumed it.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Ended by an error", needs=(), family="ending")
_SPOKEN = frozenset({"text", "recording"})
_LONGEST = 160


def detect(case: Case, *, later_run_share: float = 0.02) -> Detected:
    errors = [event for event in case.run.events if event.kind == "exception"]
    if not errors:
        spoken = not _SPOKEN.isdisjoint(case.run.formats)
        return None if spoken else Skipped("the console output, where it would be reported")
    last = errors[-1]
    begin, end = case.span
    if last.step is not None and end - last.step > later_run_share * (end - begin):
        return None
    if any(event.kind == "resume" for event in case.run.events[case.run.events.index(last) :]):
        return None
    when = (
        f"at {case.run.axis} {text(last.step)}"
        if last.step is not None
        else f"after {case.run.points} values"
    )
    said = last.text.strip().rstrip(".")[:_LONGEST] or "an exception"
    sentence = f"The program ended with an error {when}: {said}."
    return Finding(sentence, step=last.step, numbers={"errors": len(errors)})


def fires() -> Runs:
    yield run({"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "ValueError: bad batch", 2.0)])
    yield run({"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "KeyError: 'x'")])


def silent() -> Runs:
    yield run({"loss": [3.0, 2.0, 1.0]})
    yield run({"loss": [1.0] * 500}, events=[Event("exception", "ValueError: skipped", 50.0)])
    yield run(
        {"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "x", 2.0), Event("resume", "from 2", 2.0)]
    )
