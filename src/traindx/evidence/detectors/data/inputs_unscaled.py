"""The model's inputs are large, far from zero, or on scales that differ {min_scale_ratio} times and more.

Measured where they enter the model: size (root mean square) from {min_rms} on, a mean more than {mean_to_std}
deviations from zero at a size above 3, or one feature spreading {min_scale_ratio} times wider than another.
From a size of {extreme_rms} or a ratio of {extreme_scale_ratio} on it is reported as a likely defect, unless
the answers end up right.

Silent for whole numbers (tokens), for models that begin with a normalisation, and for features that do not
vary. Known mistakes: inputs that mix amounts and switches on purpose, with an optimizer that copes.
"""

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.sampled import sampled, starts_with_norm, usual
from traindx.testing.sketch import run

DETECTOR = Detector(title="Inputs not scaled", needs=("input/mean",), family="input_scale")


def detect(
    case: Case,
    *,
    min_rms: float = 10.0,
    extreme_rms: float = 100.0,
    min_scale_ratio: float = 100.0,
    extreme_scale_ratio: float = 1000.0,
    mean_to_std: float = 5.0,
) -> Detected:
    mean, std = usual(case, "input/mean"), usual(case, "input/std")
    if mean is None or std is None:
        return Skipped("inputs of real numbers")
    if starts_with_norm(case):
        return None
    rms = float(np.hypot(mean, std))
    scales = sampled(case, "input/scale_ratio")
    apart = float(np.median(scales.y)) if scales is not None else 1.0
    far = rms > 3 and abs(mean) > mean_to_std * std > 0
    if rms < min_rms and apart < min_scale_ratio and not far:
        return None
    grave = (rms >= extreme_rms or apart >= extreme_scale_ratio) and not case.level.answers_right
    uneven = f" One feature spreads {times(apart)} wider than another." if apart >= min_scale_ratio else ""
    return Finding(
        f"Inputs have mean {text(mean)} and deviation {text(std)}.{uneven}",
        symptom="silent_defect" if grave or rms >= extreme_rms or apart >= extreme_scale_ratio else None,
        severity="medium" if grave else "low",
        strength=max(
            strength(rms, min_rms / 2, extreme_rms), strength(apart, min_scale_ratio / 2, extreme_scale_ratio)
        ),
        numbers={"input_mean": mean, "input_std": std, "scale_ratio": apart},
    )


def fires() -> Runs:
    yield run({"input/mean": [120.0] * 4, "input/std": [70.0] * 4})
    yield run({"input/mean": [500.0] * 4, "input/std": [9e3] * 4, "input/scale_ratio": [4e4] * 2})


def silent() -> Runs:
    yield run({"input/mean": [0.1] * 4, "input/std": [1.2] * 4, "input/scale_ratio": [3.0] * 2})
    yield run({"input/mean": [0.5] * 4, "input/std": [0.3] * 4})
    first = {"models": [{"parameters": 9, "layer_list": [{"name": "0", "type": "BatchNorm2d"}]}]}
    yield run({"input/mean": [120.0] * 4, "input/std": [70.0] * 4}, facts=first)
