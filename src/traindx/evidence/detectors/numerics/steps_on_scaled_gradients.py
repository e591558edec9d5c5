"""The optimizer steps on gradients that are multiplied by the loss scale.

Seen when the loss went through `scaler.scale`, and `optimizer.step()` was called itself, not
`scaler.step(optimizer)`, without `unscale_` before it: gradients are tens of thousands of times too large,
and an overflow is not skipped.

Silent when the scaler steps, unscales, or hands its scale to a fused optimizer.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Steps on scaled gradients", needs=("loss_scale",), family="scaler_order")


def detect(case: Case) -> Detected:
    if not case.inside.recorded:
        return Skipped("a recording")
    recorded_events = case.inside.events("step_on_scaled_gradients")
    if not recorded_events:
        return None
    return Finding(
        f"{recorded_events[0].text[:1].upper()}{recorded_events[0].text[1:]}.",
        "silent_defect",
        "high",
        recorded_events[0].step,
    )


def fires() -> Runs:
    event = Event("step_on_scaled_gradients", "the optimizer stepped on gradients scaled by 65536", 0.0)
    yield run({"loss": noisy([1.4] * 60, 0.05), "loss_scale": [65536.0] * 60}, events=[event], facts={"a": 1})


def silent() -> Runs:
    yield run({"loss": decay(60, 2.0, 0.5), "loss_scale": [65536.0] * 60}, facts={"a": 1})
    yield run({"loss": decay(60, 2.0, 0.5)}, facts={"a": 1})
