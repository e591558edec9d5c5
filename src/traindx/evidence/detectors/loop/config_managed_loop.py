"""A framework runs the training loop.

Keras, Lightning, the Hugging Face trainer, LLaMA-Factory and Ultralytics zero the gradients, set train
and eval mode and divide accumulated losses by themselves, so slips in a hand-written loop are unlikely.
Told by the format of the log.

Silent for logs that anybody may write (CSV, JSON, TensorBoard, text). A table of epochs, losses and
accuracies that looks as if Keras wrote it may be written by anybody too: it counts less than half.
Known mistake: Lightning allows loops by hand (manual optimisation), which the log does not tell.
"""

from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.testing.sketch import decay, run

DETECTOR = Detector(title="A framework runs the loop", needs=(), family="loop")
_MANAGED = {
    "hf-trainer": "The Hugging Face trainer",
    "keras": "Keras",
    "lightning": "Lightning",
    "llamafactory": "LLaMA-Factory",
    "ultralytics": "Ultralytics",
    "detectron2": "Detectron2",
}
# How surely the format tells that the framework ran the loop, where it does not fully.
_SURENESS = {"lightning": 0.8, "keras": 0.4}


def detect(case: Case) -> Detected:
    known = next((form for form in case.run.formats if form in _MANAGED), None)
    if known is None:
        return Skipped()
    seems = "seems to run" if _SURENESS.get(known, 1.0) < 0.5 else "runs"
    text = (
        f"{_MANAGED[known]} {seems} the loop (its log has {case.run.points:,} points): it zeroes gradients."
    )
    return Finding(text, strength=_SURENESS.get(known, 1.0))


def fires() -> Runs:
    yield replace(run({"loss": decay(20, 2.0, 1.0)}), formats=("keras",))


def silent() -> Runs:
    yield replace(run({"loss": decay(20, 2.0, 1.0)}), formats=("csv",))
    yield replace(run({"loss": decay(20, 2.0, 1.0)}), formats=("text",))
