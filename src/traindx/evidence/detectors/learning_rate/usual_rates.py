"""The learning rate next to what is usual."""

from dataclasses import replace

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import strength, text, times
from traindx.evidence.detectors._settings import (
    ADAPTIVE,
    LARGE_RATES,
    adapted,
    counts_tokens,
    optimizer_family,
    perhaps_tuned,
    pretrained,
    trainer_default,
    whole_batch,
)
from traindx.testing.sketch import run


@Detector("Learning rate high for the optimizer", family="lr_value")
def config_lr_high(
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
    """The learning rate is above what this optimizer is usually given.

    Compares the highest logged rate (or the configured one) with the upper end of what is usual for the
    optimizer's family: {adam} for Adam and its kin, {adam_on_adapters} when adapters (LoRA) are trained,
    {adam_on_pretrained} when a pretrained model is, {lion} for Lion, {sgd} for SGD and the rest (in
    proportion more for batches beyond 640). When the optimizer is not known a rate above {unknown_optimizer}
    counts, weakly, and below that nothing can be said; the trainers of Hugging Face and LLaMA Factory are
    taken to use AdamW, their default. The further above, the stronger the sign.

    Silent about families made for large rates (Adadelta, LARS, Prodigy, L-BFGS) up to
    {large_rate_optimizers}. Known mistakes: small nets often stand Adam at 0.02; muP rescales rates per
    layer.
    """
    configured = optimizer_family(case)
    family = configured or trainer_default(case)
    if family in LARGE_RATES:
        limit, optimizer = large_rate_optimizers, family
    elif family in ADAPTIVE and adapted(case):
        limit, optimizer = adam_on_adapters, f"{family} on adapters"
    elif family in ADAPTIVE and pretrained(case):
        limit, optimizer = adam_on_pretrained, f"{family} on a pretrained model"
    elif family in ADAPTIVE:
        limit, optimizer = adam, family
    elif family == "lion":
        limit, optimizer = lion, family
    elif family:
        limit, optimizer = sgd * max(1.0, _samples(case) / 640), family
    else:
        limit, optimizer = unknown_optimizer, "most optimizers (this one is not known)"
    if not lr_value > limit:
        return None if family else Skipped("the optimizer, in the configuration")
    default = "" if configured or not family else ", the trainer's default"
    return Finding(
        text=f"The learning rate {text(lr_value)} is {times(lr_value / limit)} the upper end of what is "
        f"usual for {optimizer}{default} ({text(limit)}).",
        series="lr" if case.lr is not None else None,
        strength=strength(lr_value, limit, (10 if family else 50) * limit),
        numbers={"lr": lr_value, "lr_usual": limit},
    )


def _samples(case: Case) -> float:
    batch = whole_batch(case)
    return batch[0] if batch and not counts_tokens(case) else 1.0


@Detector("Learning rate low for the optimizer", family="lr_value")
def config_lr_low(
    case: Case,
    lr_value: float,
    *,
    adam: float = 3e-6,
    sgd: float = 1e-4,
    sgd_on_pretrained: float = 5e-5,
    adadelta: float = 0.05,
    unknown_optimizer: float = 3e-7,
    low_for_none: float = 0.01,
    pretrained_factor: float = 0.1,
) -> Detected:
    """The learning rate is below what this optimizer is usually given.

    Compares the highest logged rate (or the configured one) with the lower end of what is usual: {adam} for
    Adam and its kin and Lion, {sgd} for SGD, {adadelta} for Adadelta (whose own scale is 1). When anything
    hints at fine-tuning, preference or reinforcement learning, a tenth of that, for SGD half. When the
    optimizer is not known only a rate below {unknown_optimizer} counts; from {low_for_none} on it is low for
    no optimizer but Adadelta, and in between nothing can be said. The further below, the stronger the sign.

    Silent about a rate of exactly 0: that is lr_zero.
    Known mistakes: very small rates are right for the last phase of some long trainings; a sum-reduced
    loss wants a rate smaller by the batch size.
    """
    family = optimizer_family(case)
    if family == "adadelta":
        limit = adadelta
    elif family in ADAPTIVE or family in ("lion", "lamb", "adafactor"):
        limit = adam
    elif family == "sgd":
        limit = sgd_on_pretrained if perhaps_tuned(case) else sgd
    else:
        limit = unknown_optimizer
    if family not in ("", "sgd") and perhaps_tuned(case):
        limit *= pretrained_factor
    if not 0 < lr_value < limit:
        decidable = family or lr_value <= 0 or lr_value >= low_for_none
        return None if decidable else Skipped("the optimizer, in the configuration")
    return Finding(
        text=f"The learning rate {text(lr_value)} is {times(limit / lr_value)} below the lower end of what "
        f"is usual for {family or 'nearly any optimizer'} ({text(limit)}).",
        series="lr" if case.lr is not None else None,
        strength=strength(limit / lr_value, 1.0, 10.0),
        numbers={"lr": lr_value, "lr_usual": limit},
    )


def cases() -> Cases:
    yield from config_lr_high.fires(run({"loss": [1.0, 0.9]}, settings={"lr": 0.1, "optimizer": "Adam"}))
    yield from config_lr_high.fires(
        run({"lr": [0.0, 0.01, 0.02, 0.01]}, settings={"optimizer": "adamw_torch"})
    )
    yield from config_lr_high.fires(run({"lr": [5.0] * 10}))
    tuned = run({}, settings={"lr": 0.02, "optimizer": "adamw"})
    yield from config_lr_high.fires(replace(tuned, config={"lora_r": 16}))
    yield from config_lr_high.fires(run({}, settings={"lr": 3.0, "optimizer": "sgd", "batch_size": 128}))
    yield from config_lr_high.silent(
        run({}, settings={"lr": 0.01, "optimizer": "adam"}),
        run({}, settings={"lr": 0.15}),
        run({}, settings={"lr": 1.0, "optimizer": "adadelta"}),
        run({}, settings={"lr": 3.2, "optimizer": "sgd", "batch_size": 256, "world_size": 32}),
    )
    biases = run({"lr": [0.08, 0.04, 0.01, 0.009], "lr/pg1": [0.001, 0.005, 0.01, 0.009]})
    yield from config_lr_high.silent(replace(biases, settings={"optimizer": "adamw"}))
    yield from config_lr_low.fires(run({}, settings={"lr": 5e-6, "optimizer": "sgd"}))
    yield from config_lr_low.fires(run({"lr": [1e-8] * 5}, settings={"optimizer": "adamw"}))
    yield from config_lr_low.fires(run({}, settings={"lr": 0.001, "optimizer": "Adadelta"}))
    yield from config_lr_low.fires(run({}, settings={"lr": 1e-12}))
    yield from config_lr_low.silent(
        run({}, settings={"lr": 2e-5, "optimizer": "adamw"}),
        run({}, settings={"lr": 0.0, "optimizer": "adamw"}),
        run({}, settings={"lr": 5e-6}),
        run({}, settings={"lr": 0.1}),
        run({}, settings={"lr": 5e-7, "optimizer": "adamw"}, traits=("preference",)),
        replace(run({}, settings={"lr": 1e-4, "optimizer": "sgd"}), config={"pretrained": True}),
    )
