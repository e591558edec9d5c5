"""How the program ended."""

from traindx.evidence.crash import crash_of
from traindx.evidence.detector import Case, Cases, Detected, Detector, Event, Finding, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run

_SPOKEN = frozenset({"text", "recording"})
# Formats that hold messages; tables of numbers do not.
_OUT_OF_MEMORY = frozenset({"text", "recording"})


@Detector("Ended by an error", family="ending")
def ended_by_error(case: Case, *, later_run_share: float = 0.02) -> Detected:
    """The program ended with an error that no other detector knows.

    Seen when an exception ended the program: what the curves show is not the whole training. The error
    itself says what broke, and its traceback where: the deepest line of the user's own code is named. No
    cause is guessed. Out of memory is another finding, and so are the well-known exceptions.

    Could not look in logs that hold numbers only. Silent when the run continued for {later_run_share:%}
    of its length after the error, when a later attempt resumed it, and when a person interrupted it.
    """
    crash = crash_of(case.run, case.span, later_run_share=later_run_share)
    if crash is None:
        reported = not _SPOKEN.isdisjoint(case.run.formats) or bool(case.run.events)
        return None if reported else Skipped("the console output, where it would be reported")
    return crash.finding("") if crash.event.kind == "exception" else None


@Detector("Out of memory", family="memory")
def out_of_memory(case: Case, *, later_run_share: float = 0.02) -> Detected:
    """The run ran out of memory.

    Seen when the log holds an out-of-memory message. The run is lost when nothing was logged after it; when
    it went on (a loop that catches the error and skips the batch) it is of medium severity.

    Could not look in logs that hold numbers only.
    """
    messages = [event for event in case.run.events if event.kind == "out_of_memory"]
    if not messages:
        reported = not _OUT_OF_MEMORY.isdisjoint(case.run.formats)
        return None if reported else Skipped("the console output, where it would be reported")
    steps = [event.step for event in messages if event.step is not None]
    begin, end = case.span
    survived = bool(steps) and end - steps[-1] > later_run_share * (end - begin) and end > steps[-1] + 1
    place = f" at {case.run.axis} {text(steps[-1])}" if steps else ""
    if case.crash is not None and case.crash.frame is not None:
        place += f", in {case.crash.frame.file.rpartition('/')[2]}:{case.crash.frame.line},"
    often = f"{len(messages)} times, last" if len(messages) > 1 else "1 time"
    return Finding(
        text=f"The log reports out of memory {often}{place}"
        + (f"; the run went on to {text(end)}." if survived else " and nothing was logged after it."),
        symptom="memory_growth",
        severity="medium" if survived else "critical",
        step=steps[0] if steps else None,
        numbers={"out_of_memory": len(messages)},
        marks=tuple(steps[:20]),
        places=case.crash.places if case.crash is not None else (),
    )


def cases() -> Cases:
    yield from ended_by_error.fires(
        run({"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "ValueError: bad batch", 2.0)]),
        run({"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "KeyError: 'x'")]),
        run({}, events=[Event("exception", "AssertionError")]),
    )
    yield from ended_by_error.silent(
        run({"loss": [3.0, 2.0, 1.0]}),
        run({"loss": [1.0] * 500}, events=[Event("exception", "ValueError: skipped", 50.0)]),
        run({"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "x", 2.0), Event("resume", "from 2", 2.0)]),
        run({"loss": [3.0, 2.0, 1.0]}, events=[Event("interrupted", "KeyboardInterrupt", 2.0)]),
    )
    yield from out_of_memory.fires(
        run({"loss": [3.0, 2.0, 1.0]}, events=[Event("out_of_memory", "CUDA out of memory", 2.0)]),
        run({"loss": [1.0] * 500}, events=[Event("out_of_memory", "skipping batch", 50.0)]),
    )
    yield from out_of_memory.silent(run({"loss": [3.0, 2.0, 1.0]}))
    yield from out_of_memory.silent(
        run({"loss": [3.0, 2.0, 1.0]}, events=[Event("exception", "ValueError", 2.0)])
    )
