"""The learning rate is above what this optimizer is usually given.

Compares the highest logged rate (or the configured one) with the upper end of what is usual for the
optimizer's family: {adam} for Adam and its kin, {adam_on_adapters} when adapters (LoRA) are trained,
{adam_on_pretrained} when a pretrained model is, {lion} for Lion, {sgd} for SGD and the rest (in proportion
more for batches beyond 640). When the optimizer is not known a rate above {unknown_optimizer} counts, weakly,
and below that nothing can be said; the trainers of Hugging Face and LLaMA Factory are taken to use AdamW,
their default. The further above, the stronger the sign.

Silent about families made for large rates (Adadelta, LARS, Prodigy, L-BFGS) up to {large_rate_optimizers}.
Known mistakes: small nets often stand Adam at 0.02; muP rescales rates per layer.
"""

from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._settings import (
    ADAPTIVE,
    LARGE_RATES,
    adapted,
    counts_tokens,
    optimizer_family,
    pretrained,
    trainer_default,
    whole_batch,
)
from traindx.testing.sketch import run

DETECTOR = Detector(title="Learning rate high for the optimizer", family="lr_value")


def detect(
    case: Case,
    lr_value: float,
    *,
    adam: float = 0.01,
    adam_on_adapters: float = 0.003,
    adam_on_pretrained: float = 0.001,
    lion: float = 0.001,
    sgd: float = 1.0,
    large_rate_optimizers: float = 10.0,
    unknown_optimizer: float = 0.2,
) -> Detected:
    named = optimizer_family(case)
    family = named or trainer_default(case)
    if family in LARGE_RATES:
        limit, who = large_rate_optimizers, family
    elif family in ADAPTIVE and adapted(case):
        limit, who = adam_on_adapters, f"{family} on adapters"
    elif family in ADAPTIVE and pretrained(case):
        limit, who = adam_on_pretrained, f"{family} on a pretrained model"
    elif family in ADAPTIVE:
        limit, who = adam, family
    elif family == "lion":
        limit, who = lion, family
    elif family:
        limit, who = sgd * max(1.0, _samples(case) / 640), family
    else:
        limit, who = unknown_optimizer, "most optimizers (this one is not known)"
    if not lr_value > limit:
        return None if family else Skipped("the optimizer, in the configuration")
    default = "" if named or not family else ", the trainer's default"
    return Finding(
        text=f"The learning rate {text(lr_value)} is {times(lr_value / limit)} the upper end of what is "
        f"usual for {who}{default} ({text(limit)}).",
        series="lr" if case.lr is not None else None,
        strength=strength(lr_value, limit, (10 if family else 50) * limit),
        numbers={"lr": lr_value, "lr_usual": limit},
    )


def _samples(case: Case) -> float:
    batch = whole_batch(case)
    return batch[0] if batch and not counts_tokens(case) else 1.0


def fires() -> Runs:
    yield run({"loss": [1.0, 0.9]}, settings={"lr": 0.1, "optimizer": "Adam"})
    yield run({"lr": [0.0, 0.01, 0.02, 0.01]}, settings={"optimizer": "adamw_torch"})
    yield run({"lr": [5.0] * 10})
    tuned = run({}, settings={"lr": 0.02, "optimizer": "adamw"})
    yield replace(tuned, config={"lora_r": 16})
    yield run({}, settings={"lr": 3.0, "optimizer": "sgd", "batch_size": 128})


def silent() -> Runs:
    yield run({}, settings={"lr": 0.01, "optimizer": "adam"})
    yield run({}, settings={"lr": 0.15})
    yield run({}, settings={"lr": 1.0, "optimizer": "adadelta"})
    yield run({}, settings={"lr": 3.2, "optimizer": "sgd", "batch_size": 256, "world_size": 32})
    biases = run({"lr": [0.08, 0.04, 0.01, 0.009], "lr/pg1": [0.001, 0.005, 0.01, 0.009]})
    yield replace(biases, settings={"optimizer": "adamw"})
