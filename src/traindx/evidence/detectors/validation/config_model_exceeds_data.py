"""The model has many times more parameters than there are training samples.

{parameters_per_sample} parameters per sample is where it begins to count, weakly: large models generalise on
small data all the time. From {full_strength_per_sample} on the sign is full. Language models are compared by
tokens when their number is known: more parameters than tokens.

Silent when adapters are trained or the model is pretrained, for then the number says little.
Known mistakes: samples that are rich by themselves (long documents, volumes, videos).
"""

from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import count, strength
from traindx.evidence.detectors._settings import adapted, counts_tokens, pretrained
from traindx.testing.sketch import run

DETECTOR = Detector(
    title="Model large for the data",
    needs=("setting:model_parameters", "setting:train_samples|setting:train_tokens"),
    family="capacity",
)


def detect(
    case: Case,
    *,
    parameters_per_sample: float = 100.0,
    full_strength_per_sample: float = 1e5,
    parameters_per_token: float = 1.0,
) -> Detected:
    parameters = case.number("model_parameters")
    samples, tokens = case.number("train_samples"), case.number("train_tokens")
    if parameters is None or not (samples or tokens):
        return Skipped("the number of parameters and of training samples")
    if adapted(case) or pretrained(case):
        return None
    if tokens:
        ratio, limit, what = parameters / tokens, parameters_per_token, f"{count(tokens)} training tokens"
    elif samples and not counts_tokens(case):
        ratio, limit, what = parameters / samples, parameters_per_sample, f"{count(samples)} training samples"
    else:
        return Skipped("the number of training tokens")
    if ratio < limit:
        return None
    return Finding(
        text=f"The model has {count(parameters)} parameters for {what}: {count(round(ratio, 1))} for each.",
        strength=strength(ratio, limit, limit * full_strength_per_sample / parameters_per_sample),
        numbers={"parameters": parameters, "train_samples": samples or tokens or 0.0},
    )


def fires() -> Runs:
    yield run({}, settings={"model_parameters": 25_000_000, "train_samples": 500})
    yield run({}, settings={"model_parameters": 124_000_000, "train_tokens": 1_000_000})


def silent() -> Runs:
    yield run({}, settings={"model_parameters": 60_000, "train_samples": 50_000})
    yield run({}, settings={"model_parameters": 124_000_000, "train_tokens": 10_000_000_000})
    tuned = run({}, settings={"model_parameters": 7_000_000_000, "train_samples": 10_000})
    yield replace(tuned, config={"lora_r": 8})
    yield run({}, settings={"model_parameters": 7_000_000_000, "train_samples": 100, "vocab_size": 32000})
