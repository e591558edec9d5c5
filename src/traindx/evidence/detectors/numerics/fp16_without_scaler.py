"""Gradients are computed in fp16 and the loss is not scaled.

A sign: below about 6e-8 a gradient in fp16 is zero, which is what loss scaling is for. Seen when the
recording shows fp16 autocast or fp16 weights and of no scaler.

Silent with bf16, which has the range of fp32, and with a scaler.
"""

from collections.abc import Mapping

from traindx.evidence.detector import Case, Detected, Detector, Finding, Run, Runs, Skipped
from traindx.testing.sketch import run

DETECTOR = Detector(title="fp16 without loss scaling", needs=("fact:optimizers",), family="scaler_missing")


def detect(case: Case) -> Detected:
    what = half_precision(case)
    if not what:
        return None if case.inside.models else Skipped("a recording of the model")
    if "loss_scale" in case.run.series:
        return None
    return Finding(f"{what} and no GradScaler scales the loss.", None, "low", case.span[0])


def half_precision(case: Case) -> str:
    """What is in fp16, in words; empty when nothing is."""
    precision = case.word("precision")
    weights = [model.get("dtypes") for model in case.inside.models]
    if any(isinstance(one, Mapping) and "float16" in one for one in weights):
        return "Weights are fp16"
    autocast = "float16" in precision and "bfloat16" not in precision
    return "Autocast computes in fp16" if autocast else ""


def _run(dtype: str, **series: list[float]) -> Run:
    model = {"class": "Net", "parameters": 10, "dtypes": {dtype: 10}}
    curves = {"loss": [1.4, 1.5, 1.3] * 20, **series}
    return run(curves, facts={"models": [model], "optimizers": [{"class": "SGD"}]})


def fires() -> Runs:
    yield _run("float16")


def silent() -> Runs:
    yield _run("float32")
    yield _run("bfloat16")
    yield _run("float16", loss_scale=[65536.0] * 60)
