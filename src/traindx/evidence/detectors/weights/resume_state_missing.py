"""A checkpoint of a training lacks what a resumed training needs.

A checkpoint that holds a schedule, a scaler or random states is meant for resuming. Without the optimizer's
state, or with an empty one after steps were taken, the first steps after the resume have full size whatever
the gradient. With an optimizer whose groups were set by a schedule, but without that schedule's state, the
learning rate starts again: that is worth knowing, since some scripts rebuild it from the epoch. Silent
about weights alone: those are made for use, not for resuming.
"""

from traindx.evidence.detector import Detected, Detector, Finding, Run, Runs, Skipped, facts
from traindx.evidence.detectors._weights import sketch
from traindx.testing.sketch import run as sketched

DETECTOR = Detector(title="State for resuming missing", needs=("fact:checkpoint",), family="resume")


def detect(run: Run, *, min_progress: float = 1.0) -> Detected:
    checkpoint = run.facts["checkpoint"]
    parts, counters = set(checkpoint.get("parts", ())), checkpoint.get("counters") or {}
    if "training" not in parts:
        return Skipped("a checkpoint of a training: epoch, optimizer, schedule")
    begun = max(counters.values(), default=0.0) >= min_progress
    states = facts(run.facts.get("optimizer_state"))
    at = ", ".join(f"{name} {value:g}" for name, value in counters.items()) or f"{len(parts)} parts"
    if not states and parts & {"scheduler", "scaler", "random"}:
        return _found(f"holds a training's state ({at}) but no optimizer", "medium")
    if states and begun and not any(state.get("rows") for state in states) and _keeps_state(states):
        return _found(f"is of {at}, and its optimizer's state is empty", "medium")
    scheduled = any("initial_lr" in group for state in states for group in state.get("groups", ()))
    if begun and scheduled and "scheduler" not in parts:
        return Finding(f"The checkpoint of {at} holds an optimizer that a schedule drives, and no schedule.")
    return None


def _keeps_state(states: object) -> bool:
    """Whether an optimizer has anything to keep: plain SGD has not."""
    groups = [group for state in facts(states) for group in state.get("groups", ())]
    return any("betas" in group or "beta1" in group or group.get("momentum") for group in groups)


def _found(what: str, severity: str) -> Finding:
    return Finding(
        text=f"The checkpoint {what}: a resumed training would not continue where this one stopped.",
        symptom="silent_defect",
        severity="medium" if severity == "medium" else "low",
    )


def fires() -> Runs:
    parts = ["model", "scheduler", "training"]
    yield sketched(
        {}, facts=sketch({"a.weight": {}}, checkpoint={"parts": parts, "counters": {"epoch": 3.0}})
    )
    states = [{"groups": [{"lr": 0.1, "betas": True}], "rows": []}]
    empty = {"parts": ["model", "optimizer", "training"], "counters": {"epoch": 3.0}}
    yield sketched({}, facts=sketch({"a.weight": {}}, checkpoint=empty, optimizer_state=states))


def silent() -> Runs:
    yield sketched({}, facts=sketch({"a.weight": {}}, checkpoint={"parts": ["model"]}))
    whole = {"parts": ["model", "optimizer", "training"], "counters": {"epoch": 3.0}}
    states = [{"groups": [{"lr": 0.1}], "rows": [{"name": "momentum_buffer/0"}]}]
    yield sketched({}, facts=sketch({"a.weight": {}}, checkpoint=whole, optimizer_state=states))
