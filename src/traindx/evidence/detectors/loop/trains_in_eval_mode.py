"""The model trains in eval mode, though it has dropout or batch norm.

Told by the mode in which optimizer steps are taken. Mostly `eval()` was called for a validation and
`train()` not after it: from the second epoch on dropout is off and batch norm does not learn its
statistics.

Silent when modes change nothing (no dropout, no batch norm), when the stretch is short, and about single
modules that are kept in eval mode on purpose (frozen batch norm).
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._modes import what_modes_change
from traindx.evidence.detectors._number_text import percent, text
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Trains in eval mode", needs=("fact:models",), family="mode")


def detect(case: Case, *, step_share: float = 0.2, min_steps: int = 5) -> Detected:
    what = what_modes_change(case)
    if not what:
        return Skipped()
    begin, end = case.span
    told = [(e.step, e.data.get("training")) for e in case.inside.events("mode") if e.step is not None]
    ends = [*(step for step, _ in told[1:]), end + 1]
    taken = sum(
        until - step for (step, training), until in zip(told, ends, strict=False) if training is False
    )
    whole = end - begin + 1
    if taken < min_steps or taken < step_share * whole:
        return None
    since = next(step for step, training in told if training is False)
    return Finding(
        f"{text(taken)} of {text(whole)} steps ({percent(taken / whole)}) are taken in eval mode, since step "
        f"{text(since)}: {what} {'are' if ' and ' in what else 'is'} not at work while the model trains.",
        "silent_defect",
        "high" if "norm" in what else "medium",
        since,
        numbers={"eval_share": percent(taken / whole)},
        marks=(since,),
    )


def _run(events: list[Event], *, dropout: float = 0.5) -> Run:
    model = {"class": "Net", "parameters": 10, "dropout": [dropout], "normalisation": {}}
    return run({"loss": decay(160, 2.0, 0.2)}, facts={"models": [model]}, events=events)


def fires() -> Runs:
    yield _run([Event("mode", "the model trains in eval mode", 17.0, {"training": False})])


def silent() -> Runs:
    off = Event("mode", "the model trains in eval mode", 17.0, {"training": False})
    yield _run([])
    yield _run([off], dropout=0.0)
    yield _run([off, Event("mode", "the model trains in training mode", 20.0, {"training": True})])
