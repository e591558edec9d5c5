"""Every sample of a batch is the same for the model: no feature varies.

Seen when no feature of the sampled input varies over the batch in at least four of five looks: zeros, one
row repeated, a broken pipeline.

Silent for batches under 8, and where any feature varies. A sign when more than half of the features never
vary. Known mistakes: models that learn one constant on purpose (a fitted image, an embedding of one input).
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import percent, text
from traindx.evidence.sampled import odd_objective, sampled, usual
from traindx.testing.sketch import run

DETECTOR = Detector(title="Inputs do not vary", needs=("input/*",), family="input_variety")


def detect(
    case: Case,
    *,
    equal_batches_share: float = 0.8,
    constant_features_share: float = 0.5,
    min_samples: int = 2,
) -> Detected:
    share = sampled(case, "input/constant_share", min_samples)
    if share is None:
        return Skipped("batches of at least 8 real-valued samples")
    whole = float((share.y > 0.999).mean())
    level = float(np.median(share.y))
    if whole >= equal_batches_share:
        mean, spread = usual(case, "input/mean") or 0.0, usual(case, "input/std") or 0.0
        kind = "all zero" if mean == 0 and spread == 0 else f"about {text(mean)}"
        sentence = f"All samples of a batch are the same in {percent(whole)} of the samples ({kind})."
        return Finding(
            sentence, "silent_defect", "medium" if odd_objective(case) else "high", float(share.x[0])
        )
    if level < constant_features_share:
        return None
    return Finding(f"{percent(level)} of the input's features do not vary over a batch.", strength=0.4)


def fires() -> Runs:
    yield run({"input/constant_share": [1.0] * 5, "input/mean": [0.0] * 5, "input/std": [0.0] * 5})
    yield run({"input/constant_share": [0.7] * 5, "input/mean": [0.2] * 5, "input/std": [0.4] * 5})


def silent() -> Runs:
    yield run({"input/constant_share": [0.0] * 5})
    yield run({"input/constant_share": [0.3, 0.25, 0.3], "input/mean": [0.1] * 3})
    yield run({"input/mean": [0.1] * 3})
