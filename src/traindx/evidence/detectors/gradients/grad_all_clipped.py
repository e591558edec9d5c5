"""Nearly every step's gradient is clipped.

Counts the steps whose gradient norm lies at or above the configured clipping norm, or takes the clipped
share the log holds. With Adam and its kin this mostly does no harm, and it is usual in fine-tuning, so it
is a sign only; the further the usual norm lies above the threshold, the stronger.

Not seen as well in a recording that met no clipping, if its script speaks of none. Silent about norms in
loss-scaler units (grad_scaled).
Known mistakes: a clip setting that clips single values, not the norm.
"""

import re

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._gradients import scaled
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._script_words import speaks_of
from traindx.testing.sketch import decay, noisy, run

DETECTOR = Detector(
    title="Nearly all gradients clipped",
    needs=("grad_norm|grad_clip_share", "setting:clip|grad_clip_share|recording"),
    family="clipping",
)
_CLIPPING = re.compile(r"clip|clamp|trainer|deepspeed|accelerat")


def detect(case: Case, *, clipped_share: float = 0.95, min_points: int = 10) -> Detected:
    logged, norms, clip = case.curve("grad_clip_share"), case.grad_norm, case.number("clip")
    if logged is not None and len(logged) >= min_points:
        part = float(np.median(logged.y)) / (100.0 if logged.y.max() > 1 else 1.0)
        if part > 1:
            return Skipped("the share of clipped steps: what is logged is no share")
        if part < clipped_share:
            return None
        sentence = f"The log says that {percent(part)} of the gradients are clipped."
        return Finding(sentence, series=logged.name, strength=0.7, numbers={"clipped_share": part})
    if clip is None and norms is not None and _never_clips(case):
        return None
    if norms is None or clip is None or len(norms) < min_points:
        return Skipped(f"the clipping norm and at least {min_points} values of the gradient norm")
    if clip <= 0:
        return None
    if scaled(case):
        return Skipped("gradient norms that are not multiplied by the loss scale")
    part = float((norms.y >= 0.999 * clip).mean())
    if part < clipped_share:
        return None
    middle = float(np.median(norms.y))
    sentence = (
        f"{percent(part)} of the logged gradient norms lie at or above the clipping norm {text(clip)}; "
        f"their median is {text(middle)}."
    )
    numbers = {"clip": clip, "grad_norm": middle, "clip_new": 2 * middle, "clipped_share": part}
    return Finding(sentence, series=norms.name, strength=strength(middle / clip, 1.0, 30.0), numbers=numbers)


def _never_clips(case: Case) -> bool:
    """Whether a recorded training calls no clipping of torch's, and its script has none of its own."""
    if not case.inside.optimizers or case.script is None or case.curve("grad_norm_clipped") is not None:
        return False
    return not speaks_of(case.script, _CLIPPING)


def fires() -> Runs:
    yield run({"grad_norm": noisy([5.0] * 50, 0.2)}, settings={"clip": 0.1})
    yield run({"grad_clip_share": [100.0] * 20})


def silent() -> Runs:
    yield run({"grad_norm": noisy([0.3] * 50, 0.2)}, settings={"clip": 1.0})
    yield run({"grad_norm": noisy([5.0] * 50, 0.2)}, settings={"clip": 0.0})
    huge = {"grad_norm": noisy([1e5] * 50, 0.2), "loss": decay(50, 5.0, 0.1)}
    yield run(huge, settings={"clip": 1.0})
    yield run({"grad_clip_share": [0.0] * 20})
