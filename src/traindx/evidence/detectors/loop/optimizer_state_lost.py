"""The optimizer begins again: its state was left in a checkpoint, or is dropped after each step.

Seen when a file was loaded that holds the state of an optimizer, the model took its weights from it whole,
and an optimizer with as many parameters then began with an empty state: its moments are lost, and mostly
the schedule too. Or when the state that an update of optax returns never leaves the step, so that each step
begins with the same one: momentum and the count of steps do not grow.

Silent when the state was loaded, when the checkpoint holds none, when the model fits only in part (another
task), and when the weights are loaded after the last step. Known mistake: a new stage that is begun on
purpose from a full checkpoint.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Optimizer state lost", needs=("fact:optimizers",), family="restored_state")


def detect(case: Case) -> Detected:
    for reset in case.inside.events("optimizer_state_reset"):
        sentence = (
            f"The optimizer begins again at each step: {reset.text}. Momentum and schedule have no effect."
        )
        return Finding(sentence, "silent_defect", "high", reset.step)
    notes = case.inside.events("optimizer_state_not_loaded")
    if not notes:
        return None if case.run.facts.get("restored") else Skipped()
    step = notes[0].step
    sentence = (
        f"At step {text(step or 0)} a training was taken up again without its optimizer: {notes[0].text}."
    )
    return Finding(sentence, "silent_defect", "medium", step, marks=(step,) if step is not None else ())


def fires() -> Runs:
    event = Event(
        "optimizer_state_not_loaded", "Adam starts without state: the loaded file holds one for it", 1.0
    )
    yield run({"loss": decay(60, 2.0, 0.5)}, events=[event], facts={"optimizers": [{"class": "Adam"}]})
    event = Event("optimizer_state_reset", "it had counted no step in 9 samples", 1.0)
    yield run({"loss": decay(60, 2.0, 0.5)}, events=[event], facts={"optimizers": [{"class": "Adam"}]})


def silent() -> Runs:
    facts = {"optimizers": [{"class": "Adam"}], "restored": [{"keys": 4, "missing": 0, "unexpected": 0}]}
    yield run({"loss": decay(60, 2.0, 0.5)}, facts=facts)
    yield run({"loss": decay(60, 2.0, 0.5)}, facts={"optimizers": [{"class": "Adam"}]})
