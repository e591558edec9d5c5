"""The scheduler stepped before the optimizer's first step.

Told by the recorder. The first value of the schedule is skipped, and every later one comes a step early:
little harm where it steps each batch, an epoch where it steps each epoch.

Silent when an optimizer took up a state that was loaded.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="Scheduler before optimizer", needs=("fact:schedulers",), family="schedule_order")


def detect(case: Case) -> Detected:
    recorded_events = case.inside.events("scheduler_before_optimizer")
    if not recorded_events:
        return None
    sentence = f"At step 0 {recorded_events[0].text}: the first value of the schedule is never used."
    return Finding(sentence, "silent_defect", "low", recorded_events[0].step)


def fires() -> Runs:
    event = Event("scheduler_before_optimizer", "StepLR stepped before the first optimizer step", 0.0)
    yield run({"loss": decay(60, 2.0, 0.5)}, events=[event], facts={"schedulers": [{"class": "StepLR"}]})


def silent() -> Runs:
    yield run({"loss": decay(60, 2.0, 0.5)}, facts={"schedulers": [{"class": "StepLR"}]})
    yield run({"loss": decay(60, 2.0, 0.5)})
