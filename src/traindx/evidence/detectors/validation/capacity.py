"""What the settings say of the model next to the data."""

import re
from dataclasses import replace

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._number_text import count, strength
from traindx.evidence.detectors._settings import adapted, counts_tokens, is_set, pretrained
from traindx.testing.sketch import run

_RESTRAINT = re.compile(
    r"drop(?!_last)|weight_decay|smoothing|mix_?up|cut_?mix|augment|stochastic_depth|early_stop|l1_|l2_|noise"
)


@Detector(
    "Model large for the data",
    needs=("setting:model_parameters", "setting:train_samples|setting:train_tokens|fact:samples"),
    family="capacity",
)
def config_model_exceeds_data(
    case: Case,
    *,
    parameters_per_sample: float = 100.0,
    full_strength_per_sample: float = 1e5,
    parameters_per_token: float = 1.0,
) -> Detected:
    """The model has many times more parameters than there are training samples.

    {parameters_per_sample} parameters per sample is where it begins to count, weakly: large models
    generalise on small data all the time. From {full_strength_per_sample} on the sign is full. Language
    models are compared by tokens when their number is known: more parameters than tokens.

    Silent when adapters are trained or the model is pretrained, for then the number says little.
    Known mistakes: samples that are rich by themselves (long documents, volumes, videos).
    """
    parameters = case.number("model_parameters")
    samples, tokens = case.train_samples, case.number("train_tokens")
    about = "" if case.number("train_samples") else "about "
    if parameters is None or not (samples or tokens):
        return Skipped("the number of parameters and of training samples")
    if adapted(case) or pretrained(case):
        return None
    if tokens:
        ratio, limit, unit = parameters / tokens, parameters_per_token, f"{count(tokens)} training tokens"
    elif samples and not counts_tokens(case):
        ratio, limit = parameters / samples, parameters_per_sample
        unit = f"{about}{count(samples)} training samples"
    else:
        return Skipped("the number of training tokens")
    if ratio < limit:
        return None
    return Finding(
        text=f"The model has {count(parameters)} parameters for {unit}: {count(round(ratio, 1))} for each.",
        strength=strength(ratio, limit, limit * full_strength_per_sample / parameters_per_sample),
        numbers={"parameters": parameters, "train_samples": samples or tokens or 0.0},
    )


@Detector("No regularisation", needs=("setting:dropout", "setting:weight_decay"), family="regularisation")
def config_no_regularisation(case: Case, *, none_below: float = 0.0) -> Detected:
    """Nothing in the configuration restrains the model: dropout and weight decay are 0.

    Both must be named and 0, and no other key may name a restraint that is on (label smoothing, drop path,
    mix-up, augmentation, an adapter's dropout).

    Known mistakes: augmentation that stands in the script only.
    """
    dropout, decay = case.number("dropout"), case.number("weight_decay")
    if dropout is None or decay is None:
        return Skipped("dropout and weight decay as numbers")
    if dropout > none_below or decay > none_below or (case.number("label_smoothing") or 0.0) > none_below:
        return None
    for key, value in case.run.config.items():
        if _RESTRAINT.search(key.lower()) and "drop_last" not in key.lower() and is_set(_number(value)):
            return None
    sentence = "Dropout and weight decay are both 0 and the configuration names no other restraint."
    return Finding(sentence, strength=0.7, numbers={"dropout": dropout, "weight_decay": decay})


def _number(value: object) -> str | float | None:
    """0.0 written as text is nothing either."""
    try:
        return float(str(value)) or None
    except ValueError:
        return str(value)


def cases() -> Cases:
    yield from config_model_exceeds_data.fires(
        run({}, settings={"model_parameters": 25_000_000, "train_samples": 500}),
        run({}, settings={"model_parameters": 124_000_000, "train_tokens": 1_000_000}),
    )
    yield from config_model_exceeds_data.silent(
        run({}, settings={"model_parameters": 60_000, "train_samples": 50_000}),
        run({}, settings={"model_parameters": 124_000_000, "train_tokens": 10_000_000_000}),
    )
    tuned = run({}, settings={"model_parameters": 7_000_000_000, "train_samples": 10_000})
    yield from config_model_exceeds_data.silent(
        replace(tuned, config={"lora_r": 8}),
        run({}, settings={"model_parameters": 7_000_000_000, "train_samples": 100, "vocab_size": 32000}),
    )
    nothing = run({}, settings={"dropout": 0.0, "weight_decay": 0.0})
    yield from config_no_regularisation.fires(
        nothing,
        replace(nothing, config={"dropout": "0.0", "weight_decay": 0, "dataloader_drop_last": True}),
    )
    yield from config_no_regularisation.silent(
        run({}, settings={"dropout": 0.1, "weight_decay": 0.0}),
        run({}, settings={"dropout": 0.0, "weight_decay": 0.0, "label_smoothing": 0.1}),
    )
    adapter = run({}, settings={"dropout": 0.0, "weight_decay": 0.0})
    yield from config_no_regularisation.silent(replace(adapter, config={"lora_dropout": 0.05}))
