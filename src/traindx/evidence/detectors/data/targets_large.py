"""Real-valued targets are large: a size (root mean square) of {min_rms} and more.

A circumstance: outputs begin near zero, so the first loss and the first gradients are huge. Adam and a larger
rate cope; reported as a sign.

Silent for classes, for targets of usual size, and where the answers end up right.
Known mistakes: units chosen on purpose.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text
from traindx.evidence.sampled import usual
from traindx.testing.sketch import run

DETECTOR = Detector(title="Large targets", needs=("target/mean",), family="input_scale")


def detect(case: Case, *, min_rms: float = 30.0, full_strength_at: float = 1000.0) -> Detected:
    mean, std = usual(case, "target/mean"), usual(case, "target/std")
    if mean is None or std is None:
        return Skipped()
    rms = float(np.hypot(mean, std))
    if rms < min_rms or case.level.answers_right:
        return None
    sentence = f"Targets have mean {text(mean)} and deviation {text(std)}; outputs begin near 0."
    numbers = {"target_mean": mean, "target_std": std}
    return Finding(sentence, strength=strength(rms, min_rms, full_strength_at), numbers=numbers)


def fires() -> Runs:
    yield run({"target/mean": [2e5] * 4, "target/std": [8e4] * 4})


def silent() -> Runs:
    yield run({"target/mean": [0.0] * 4, "target/std": [1.0] * 4})
    learned = {"output/explained": [-9.0, 0.2, 0.9, 0.95, 0.95]}
    yield run({"target/mean": [50.0] * 4, "target/std": [8.0] * 4, **learned})
