"""Gradients are cleared between backward and the step.

Seen when the loss is computed from the parameters that the optimizer holds, backward is called, and yet none
of them has a gradient when the step is taken: `zero_grad` stands between the two. Nothing is learned.

A sign beside no_gradient_at_all, which is the trouble itself. Silent when gradients reach the step.
"""

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs
from traindx.evidence.detectors.gradients import no_gradient_at_all

DETECTOR = Detector(title="Gradients cleared before the step", needs=("fact:optimizers",), family="zeroing")


def detect(case: Case) -> Detected:
    found = no_gradient_at_all.detect(case)
    if not isinstance(found, Finding):
        return found
    if found.numbers.get("cleared") != "true":
        return None
    steps = case.run.last_step or 0.0
    words = f"zero_grad() is called between backward() and step(), for {steps:,.0f} steps."
    return Finding(words, None, "low", found.step)


def fires() -> Runs:
    yield no_gradient_at_all._run(0, [0.0, 0.0, 0.0])


def silent() -> Runs:
    yield no_gradient_at_all._run(0, [], held=0)
    yield no_gradient_at_all._run(2, [0.0, 0.0, 0.0])
