"""Settings of the batch and the model."""

import re
from dataclasses import replace

from traindx.evidence.detector import Case, Cases, Detected, Detector, Finding, Skipped
from traindx.evidence.detectors._layers import model, plain_stack
from traindx.evidence.detectors._number_text import percent, strength, text
from traindx.evidence.detectors._settings import counts_tokens, whole_batch
from traindx.evidence.sampled import part
from traindx.testing.sketch import decay, noisy, run

_ATTENTION = re.compile(r"n_?heads?|num_(?:attention_)?heads|attention|d_model|vocab_size")


@Detector("Large batch", needs=("setting:batch_size",), family="batch")
def config_batch_large(
    case: Case, *, data_share: float = 0.25, large_batch: int = 8192, token_batch: int = 131072
) -> Detected:
    """A batch holds a large part of the data, or thousands of samples.

    Fires when one update takes a quarter or more of the training samples, or when the configured batch size
    is {large_batch} or more and surely counts samples.

    Silent in reinforcement learning, where large batches are the rule, and when the number may count tokens
    (a language model).
    Known mistakes: full-batch training is right for some small problems and for physics-informed nets.
    """
    batch, whole = case.number("batch_size"), whole_batch(case)
    if batch is None or whole is None:
        return Skipped("the batch size as a number")
    if "rl" in case.traits:
        return Skipped("a training other than reinforcement learning")
    data = case.train_samples
    if data and not counts_tokens(case) and batch >= data_share * data and batch > 1:
        part = min(1.0, batch / data)
        about = "" if case.number("train_samples") else "about "
        of = f"the {about}{text(data)} training samples"
        sentence = f"One batch of {text(batch)} holds {percent(part)} of {of}."
        numbers = {"batch": batch, "train_samples": data}
        return Finding(sentence, strength=strength(part, data_share, 1.0), numbers=numbers)
    if large_batch <= batch <= token_batch and not counts_tokens(case):
        sentence = f"The batch size is {text(batch)}."
        return Finding(
            sentence, strength=strength(batch, large_batch / 2, 2 * large_batch), numbers={"batch": batch}
        )
    return None


@Detector("Tiny batch", needs=("setting:batch_size",), family="batch")
def config_batch_tiny(
    case: Case,
    *,
    max_batch_size: int = 4,
    small_batch_size: int = 16,
    min_scatter: float = 0.15,
    strength_if_accumulation_unknown: float = 0.3,
) -> Detected:
    """Very few samples make one update.

    Batch size times accumulation steps times devices, as far as the configuration gives them. The sign is
    weaker when accumulation is not known, for the real batch may be larger. Above {max_batch_size}, and
    below {small_batch_size}, it is a weak sign where the loss scatters by {min_scatter} of its level or
    more.

    Silent above that. Known mistakes: a sample may be a long document or a large volume that holds
    plenty of gradient by itself.
    """
    batch = whole_batch(case)
    if batch is None:
        return Skipped("the batch size as a number")
    samples, complete = batch
    if samples > max_batch_size and not (samples < small_batch_size and _scatters(case, min_scatter)):
        return None
    clarity = 1.0 if samples <= max_batch_size / 2 else 0.5 if samples <= max_batch_size else 0.3
    sentence = f"One update is made from {text(samples)} sample{'s' if samples > 1 else ''}."
    unsure = f"The batch size is {text(samples)}; accumulation, if any, is not in the configuration."
    return Finding(
        text=sentence if complete else unsure,
        strength=clarity if complete else clarity * strength_if_accumulation_unknown,
        numbers={"batch": samples},
    )


def _scatters(case: Case, share: float, *, points: int = 16) -> bool:
    """Whether the training loss varies from point to point by a share of its level."""
    loss = case.loss
    return loss is not None and len(loss) >= points and loss.noise >= share * abs(loss.tail)


@Detector("Deep model", needs=("setting:layers",), family="capacity")
def config_deep_model(
    case: Case,
    *,
    plain_layers: int = 11,
    plain_full_strength_at: int = 60,
    transformer_layers: int = 64,
    saturating_layers: int = 6,
) -> Detected:
    """The model has many layers.

    Counts from {plain_layers} layers, weakly at first; from {transformer_layers} when the configuration
    shows a transformer or a recording normalisation or skip connections, which carry the signal through many
    layers; from {saturating_layers} when the configuration names sigmoid or tanh as the activation.

    Known mistakes: `depth` and `layers` may count blocks of several layers; residual nets are deep without
    harm.
    """
    layers = case.number("layers")
    if layers is None:
        return Skipped("the number of layers")
    activation = next((str(v).lower() for k, v in case.run.config.items() if "activation" in k.lower()), "")
    normalised = bool(case.inside.models) and not plain_stack(case)
    attends = bool(case.number("vocab_size")) or any(_ATTENTION.search(k.lower()) for k in case.run.config)
    squashes = activation in ("sigmoid", "tanh", "logistic")
    plain = not (attends or normalised or squashes)
    deep = transformer_layers if attends or normalised else saturating_layers
    limit = plain_layers if plain else deep
    if layers < limit:
        return None
    suffix = f" with {activation}" if squashes else ""
    sentence = f"The model has {text(layers)} layers{suffix}."
    full = plain_full_strength_at if plain else 3 * limit
    return Finding(sentence, strength=strength(layers, limit, full), numbers={"layers": layers})


@Detector("High dropout", needs=("setting:dropout",), family="regularisation")
def config_dropout_high(case: Case, *, max_dropout: float = 0.5, full_strength_at: float = 0.8) -> Detected:
    """Dropout is set above one half.

    Silent up to {max_dropout}, which classifiers with wide last layers have long used, and for values above
    1, which are no probability. Known mistakes: a setting that means the share kept, not the share dropped.
    """
    dropout = case.number("dropout")
    if dropout is None or not 0 <= dropout <= 1:
        return Skipped("dropout as a probability")
    if dropout <= max_dropout:
        return None
    return Finding(
        text=f"Dropout is {text(dropout)}: {100 * dropout:.0f} % of the units are silenced at every step.",
        strength=round(
            min(1.0, 0.3 + 0.7 * (dropout - max_dropout) / max(1e-9, full_strength_at - max_dropout)), 3
        ),
        numbers={"dropout": dropout},
    )


@Detector("Batch norm over a tiny batch", needs=("fact:models",), family="batch_size")
def batch_norm_tiny_batch(case: Case, *, max_batch_size: int = 4, defect_batch_size: int = 2) -> Detected:
    """Batch normalisation takes its statistics over a handful of samples.

    Seen from a batch of {max_batch_size} down when the model holds `BatchNorm1d`, which normalises over the
    samples alone; a defect from {defect_batch_size} down. In images the points of a picture count as well:
    `BatchNorm2d` and larger are a sign only.

    Silent for larger batches and for other normalisations.
    Known mistakes: batch norm in eval mode throughout, which uses stored statistics.
    """
    kinds = [kind for model in case.inside.models for kind in part(model, "normalisation")]
    norms = sorted({kind for kind in kinds if "BatchNorm" in kind})
    batch = case.batch_size
    if not norms:
        return Skipped()
    if batch is None:
        return Skipped("the batch size")
    if batch > max_batch_size:
        return None
    bare = "BatchNorm1d" in norms
    defect = bare and batch <= defect_batch_size
    return Finding(
        f"{' and '.join(norms)} takes its mean and spread over batches of {batch:g}.",
        symptom="silent_defect" if defect else None,
        strength=1.0 if defect else 0.7 if bare else 0.5,
        numbers={"batch_size": batch},
    )


def cases() -> Cases:
    yield from config_batch_large.fires(run({}, settings={"batch_size": 100, "train_samples": 150}))
    yield from config_batch_large.fires(run({}, settings={"batch_size": 16384}))
    yield from config_batch_large.silent(run({}, settings={"batch_size": 524288}))
    yield from config_batch_large.silent(run({"tokens_per_s": [1e6, 1e6]}, settings={"batch_size": 65536}))
    yield from config_batch_large.silent(run({}, settings={"batch_size": 256, "train_samples": 50000}))
    yield from config_batch_large.silent(run({}, settings={"batch_size": 16384}, traits=("rl",)))
    scattered = noisy(decay(60, 2.0, 1.0), 0.4)
    yield from config_batch_tiny.fires(
        run({"loss": scattered}, settings={"batch_size": 8, "accumulation": 1})
    )
    yield from config_batch_tiny.fires(run({}, settings={"batch_size": 2, "accumulation": 1}))
    yield from config_batch_tiny.fires(run({}, settings={"batch_size": 1}))
    yield from config_batch_tiny.silent(
        run({}, settings={"batch_size": 2, "accumulation": 16}),
        run({}, settings={"batch_size": 1, "world_size": 8}),
        run({"loss": noisy(decay(60, 2.0, 1.0), 0.02)}, settings={"batch_size": 8, "accumulation": 1}),
        run({}, settings={"batch_size": 32, "world_size": -1}),
        run({}, settings={"batch_size": "auto"}),
    )
    yield from config_deep_model.fires(run({}, settings={"layers": 50}))
    yield from config_deep_model.fires(run({}, settings={"layers": 11}))
    yield from config_deep_model.fires(run({}, settings={"layers": 12}, facts=model([[8, 8]] * 12)))
    yield from config_deep_model.fires(
        replace(run({}, settings={"layers": 10}), config={"activation": "sigmoid"})
    )
    yield from config_deep_model.silent(
        run({}, settings={"layers": 6}),
        run({}, settings={"layers": 30}, facts=model([[8, 8]] * 30, normalisation={"LayerNorm": 29})),
        run({}, settings={"layers": 32, "vocab_size": 32000}),
        replace(run({}, settings={"layers": 4}), config={"activation": "tanh"}),
    )
    yield from config_dropout_high.fires(run({}, settings={"dropout": 0.9}))
    yield from config_dropout_high.fires(run({}, settings={"dropout": 0.6}))
    yield from config_dropout_high.silent(run({}, settings={"dropout": 0.5}))
    yield from config_dropout_high.silent(run({}, settings={"dropout": 0.1}))
    yield from config_dropout_high.silent(run({}, settings={"dropout": 30}))
    norms = {"models": [{"class": "Net", "normalisation": {"BatchNorm1d": 2}}]}
    yield from batch_norm_tiny_batch.fires(
        run({"loss": [2.0, 1.0]}, settings={"batch_size": 2}, facts=norms),
        run({"loss": [2.0, 1.0]}, facts={**norms, "losses": [{"output_shape": "4x10"}]}),
    )
    norms = {"models": [{"class": "Net", "normalisation": {"BatchNorm2d": 2}}]}
    yield from batch_norm_tiny_batch.silent(
        run({"loss": [2.0, 1.0]}, settings={"batch_size": 32}, facts=norms)
    )
    layer = {"models": [{"class": "Net", "normalisation": {"LayerNorm": 2}}]}
    yield from batch_norm_tiny_batch.silent(
        run({"loss": [2.0, 1.0]}, settings={"batch_size": 1}, facts=layer)
    )
