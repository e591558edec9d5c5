"""The model has many layers.

Counts from {plain_layers} layers; from {transformer_layers} when the configuration shows a transformer, which
has skip connections and normalisation by construction; from {saturating_layers} when it names sigmoid or tanh
as the activation.

Known mistakes: `depth` and `layers` may count blocks of several layers; residual nets are deep without
harm.
"""

import re
from dataclasses import replace

from traindx.evidence.detector import Case, Detected, Detector, Finding, Runs, Skipped
from traindx.evidence.detectors._number_text import strength, text
from traindx.testing.sketch import run

DETECTOR = Detector(title="Deep model", needs=("setting:layers",), family="capacity")
_ATTENTION = re.compile(r"n_?heads?|num_(?:attention_)?heads|attention|d_model|vocab_size")


def detect(
    case: Case, *, plain_layers: int = 20, transformer_layers: int = 64, saturating_layers: int = 6
) -> Detected:
    layers = case.number("layers")
    if layers is None:
        return Skipped("the number of layers")
    activation = next((str(v).lower() for k, v in case.run.config.items() if "activation" in k.lower()), "")
    attends = bool(case.number("vocab_size")) or any(_ATTENTION.search(k.lower()) for k in case.run.config)
    squashes = activation in ("sigmoid", "tanh", "logistic")
    limit = transformer_layers if attends else saturating_layers if squashes else plain_layers
    if layers < limit:
        return None
    with_what = f" with {activation}" if squashes else ""
    sentence = f"The model has {text(layers)} layers{with_what}."
    return Finding(sentence, strength=strength(layers, limit, 3 * limit), numbers={"layers": layers})


def fires() -> Runs:
    yield run({}, settings={"layers": 50})
    yield replace(run({}, settings={"layers": 10}), config={"activation": "sigmoid"})


def silent() -> Runs:
    yield run({}, settings={"layers": 6})
    yield run({}, settings={"layers": 32, "vocab_size": 32000})
    yield replace(run({}, settings={"layers": 4}), config={"activation": "tanh"})
