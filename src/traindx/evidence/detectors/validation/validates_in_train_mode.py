"""Validation runs in training mode, though the model has dropout or batch norm.

Told by losses that are computed without gradients, and by passes over data without gradients, while the
model is in training mode: dropout is on, and batch norm learns from what it should be measured on.

Silent when modes change nothing, about what happens before the first step, and about a single pass without
a loss (batch norm statistics are estimated anew in training mode on purpose).
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Run, Runs, Skipped
from traindx.evidence.detectors._modes import what_modes_change
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Validates in training mode", needs=("fact:models",), family="mode_validation")


def detect(case: Case, *, min_passes: int = 2) -> Detected:
    what = what_modes_change(case)
    if not what:
        return Skipped()
    losses = {step for step in case.events("validated_in_train_mode") if step > 0}
    bare = {step for step in case.events("evaluated_in_train_mode") if step > 0}
    if not losses and len(bare) < min_passes:
        return None
    steps = sorted(losses | bare)
    return Finding(
        f"{len(steps)} validation{'s run' if len(steps) > 1 else ' runs'} in training mode, first after step "
        f"{text(steps[0])}: {what} {'are' if ' and ' in what else 'is'} at work while the model is measured.",
        "silent_defect",
        "medium",
        steps[0],
        series="val/loss" if losses else None,
        numbers={"validations": len(steps)},
        marks=tuple(steps[:20]),
    )


def _run(events: list[Event], *, dropout: float = 0.5) -> Run:
    model = {"class": "Net", "parameters": 10, "dropout": [dropout], "normalisation": {}}
    return run({"loss": decay(160, 2.0, 0.2)}, facts={"models": [model]}, events=events)


def fires() -> Runs:
    yield _run([Event("validated_in_train_mode", "4 validation batches", step) for step in (16.0, 32.0)])
    yield _run([Event("evaluated_in_train_mode", "a pass", step) for step in (16.0, 32.0)])


def silent() -> Runs:
    yield _run([])
    yield _run([Event("evaluated_in_train_mode", "a pass", 160.0)])
    yield _run([Event("validated_in_train_mode", "4 validation batches", 16.0)], dropout=0.0)
    yield _run([Event("validated_in_train_mode", "the first loss", 0.0)])
