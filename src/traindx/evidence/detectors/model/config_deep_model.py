"""The model has many layers.

Counts from {plain_layers} layers, weakly at first; from {transformer_layers} when the configuration shows a
transformer or a recording normalisation or skip connections, which carry the signal through many layers; from
{saturating_layers} when the configuration names sigmoid or tanh as the activation.

Known mistakes: `depth` and `layers` may count blocks of several layers; residual nets are deep without
harm.
"""

import re
from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._layers import model, plain_stack
from traindx.evidence.detectors._number_text import strength, text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Deep model", needs=("setting:layers",), family="capacity")
_ATTENTION = re.compile(r"n_?heads?|num_(?:attention_)?heads|attention|d_model|vocab_size")


def detect(
    case: Case,
    *,
    plain_layers: int = 11,
    plain_full_strength_at: int = 60,
    transformer_layers: int = 64,
    saturating_layers: int = 6,
) -> Detected:
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
    with_what = f" with {activation}" if squashes else ""
    sentence = f"The model has {text(layers)} layers{with_what}."
    full = plain_full_strength_at if plain else 3 * limit
    return Finding(sentence, strength=strength(layers, limit, full), numbers={"layers": layers})


def fires() -> Runs:
    yield run({}, settings={"layers": 50})
    yield run({}, settings={"layers": 11})
    yield run({}, settings={"layers": 12}, facts=model([[8, 8]] * 12))
    yield replace(run({}, settings={"layers": 10}), config={"activation": "sigmoid"})


def silent() -> Runs:
    yield run({}, settings={"layers": 6})
    yield run({}, settings={"layers": 30}, facts=model([[8, 8]] * 30, normalisation={"LayerNorm": 29}))
    yield run({}, settings={"layers": 32, "vocab_size": 32000})
    yield replace(run({}, settings={"layers": 4}), config={"activation": "tanh"})
