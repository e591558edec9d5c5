"""Gradients are clipped while they are still multiplied by the loss scale.

Told by the recorder: the norm is taken and cut before `unscale_`, so a threshold of 1 is one of 1/65,536,
and every step is cut to nearly nothing.

Silent without a scaler, and when the gradients were unscaled first.
"""

from traindx.evidence.detector import Case, Detected, Detector, Event, Finding, Runs, Skipped
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(title="Clips before unscaling", needs=("loss_scale",), family="scaler_order")


def detect(case: Case) -> Detected:
    if not case.inside.recorded:
        return Skipped("a recording")
    notes = case.inside.events("clip_before_unscale")
    if not notes:
        return None
    clip = case.number("clip")
    limit = f" to a norm of {clip:g}" if clip is not None else ""
    sentence = (
        f"At {len(notes)} steps gradients were clipped{limit} before they were unscaled: {notes[0].text}."
    )
    return Finding(
        sentence,
        "silent_defect",
        "high",
        notes[0].step,
        numbers={"clipped_scaled": len(notes)},
    )


def fires() -> Runs:
    event = Event("clip_before_unscale", "gradients were clipped while scaled by 65536", 1.0)
    yield run({"loss": noisy([1.4] * 60, 0.05), "loss_scale": [65536.0] * 60}, events=[event], facts={"a": 1})


def silent() -> Runs:
    yield run({"loss": decay(60, 2.0, 0.5), "loss_scale": [65536.0] * 60}, facts={"a": 1})
    yield run({"loss": decay(60, 2.0, 0.5)}, facts={"a": 1})
