"""Warm-up is set to last as long as the whole run, or longer.

Compares the configured warm-up with the planned length: steps with steps, epochs with epochs, as the
key says (`warmup_steps`, `warmup_epochs`). A value below 1 is a share of the run. Where somebody said at
which step the run is, also with that.

Could not look when the planned length is not known in the same unit.
"""

from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import text
from traindx.evidence.detectors._settings import keys_of
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Warm-up longer than the run", needs=("setting:warmup|setting:warmup_ratio",), family="warmup"
)


def detect(case: Case, *, warmup_share: float = 1.0) -> Detected:
    warmup, ratio = case.number("warmup") or 0.0, case.number("warmup_ratio") or 0.0
    if warmup < 1:
        ratio, warmup = max(ratio, warmup), 0.0
    epochs = any("epoch" in key for key in keys_of(case, "warmup"))
    planned = case.number("epochs") if epochs else case.number("max_steps") or _steps(case)
    if not warmup and ratio:
        planned, warmup = 1.0, ratio
    if not warmup:
        return None
    step = case.number("steps_done")
    if step and not epochs and step < warmup:
        sentence = (
            f"Step {text(step)} is within the warm-up of {text(warmup)} steps: the peak is still to come."
        )
        return Finding(sentence, numbers={"warmup": warmup, "steps_done": step})
    if not planned or planned <= 0:
        return Skipped("the planned number of steps or epochs")
    if warmup < warmup_share * planned:
        return None
    unit = "epochs" if epochs else "steps"
    phrase = (
        f"{text(warmup)} {unit}, the run to {text(planned)}" if planned > 1 else f"{text(warmup)} of the run"
    )
    sentence = f"Warm-up is set to {phrase}: the learning rate never reaches its peak."
    return Finding(sentence, numbers={"warmup": warmup, "total_steps": planned})


def _steps(case: Case) -> float | None:
    return case.planned_steps if case.run.axis == "step" else None


def fires() -> Runs:
    yield run({}, settings={"warmup": 500, "max_steps": 300})
    yield run({}, settings={"warmup": 500, "max_steps": 3000, "steps_done": 200})
    longer = run({}, settings={"warmup": 20, "epochs": 10})
    yield replace(longer, config={"warmup_epochs": 20})


def silent() -> Runs:
    yield run({}, settings={"warmup": 100, "max_steps": 3000})
    yield run({}, settings={"warmup": 100, "max_steps": 3000, "steps_done": 200})
    yield run({}, settings={"warmup": 0, "warmup_ratio": 0.1, "max_steps": 300})
    yield run({}, settings={"warmup": 500})
    yield replace(run({}, settings={"warmup": 10, "epochs": 400}), config={"warmup_epochs": 10})
    yield replace(run({}, settings={"warmup": 500, "epochs": 3}), config={"warmup_steps": 500})
