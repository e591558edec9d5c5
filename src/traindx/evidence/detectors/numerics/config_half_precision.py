"""Training computes in fp16.

Reads the precision settings (`fp16`, `amp`, `16-mixed`, `float16`), or a logged loss scale above 1,
which only fp16 needs. Weights kept in fp16 as well (`16-true`, `half`) make the sign stronger.

Silent for bf16 and fp32.
Known mistakes: `amp: true` with nothing else is taken as fp16, the default of automatic mixed
precision, but a script may have chosen bf16.
"""

import re

import numpy as np

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs
from traindx.evidence.detectors._number_text import text
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Half precision (fp16)", needs=("setting:precision|setting:fp16|loss_scale",), family="precision"
)
_HALF = re.compile(r"(?<![a-z0-9])(?:fp16|float16|f16|half|16|o[123]|amp_fp16)(?![0-9])")
_PURE = re.compile(r"16-true|half|float16(?!.*mixed)|(?<![a-z])o3")


def detect(case: Case, *, mixed_strength: float = 0.7) -> Detected:
    precision = case.word("precision")
    flag = case.word("fp16") in ("true", "1", "o1", "o2", "o3", "fp16", "apex", "amp")
    brain = "bf16" in precision or "bfloat16" in precision or case.word("bf16") == "true"
    if brain:
        return None
    if flag or _HALF.search(precision):
        pure = not flag and bool(_PURE.search(precision))
        told = precision if _HALF.search(precision) else "mixed precision"
        sentence = f"Training computes in fp16 ({told}): its largest number is 65504."
        return Finding(sentence, strength=1.0 if pure else mixed_strength, numbers={"precision": "fp16"})
    scale = case.curve("loss_scale")
    if scale is not None and len(scale) and float(np.median(scale.y)) > 1:
        return Finding(
            text=f"The loss is scaled by {text(float(scale.y[-1]))}, as only fp16 needs it.",
            series="loss_scale",
            strength=mixed_strength,
            numbers={"precision": "fp16", "loss_scale": float(scale.y[-1])},
        )
    return None


def fires() -> Runs:
    yield run({}, settings={"precision": "fp16", "fp16": True})
    yield run({}, settings={"precision": "float32", "fp16": True})
    yield run({}, settings={"precision": "16-mixed"})
    yield run({"loss_scale": [65536.0, 32768.0]})


def silent() -> Runs:
    yield run({}, settings={"precision": "bf16-mixed"})
    yield run({}, settings={"precision": "amp_bf16"})
    yield run({}, settings={"precision": "float32", "fp16": False})
    yield run({"loss_scale": [1.0, 1.0]})
