"""Kinds of layers, activations and losses, by one name whichever framework they come from.

A recording holds the name of the class or function as its framework spells it, and its kind; recordings from
before kinds were written are understood by the spelling alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import inf, sqrt

_FLAT = 1 / 50
_NIL = 1e-4  # smooth rectifiers never quite reach zero


@dataclass(frozen=True)
class LayerShape:
    """When a value of an activation counts as zero (at most `zero` away from it), and as saturated.

    Limits of saturation are where the slope of a function falls under a fiftieth of its largest: there hardly
    any gradient passes.
    """

    zero: float | None = None
    low: float = -inf
    high: float = inf

    @property
    def saturates(self) -> bool:
        return self.low > -inf or self.high < inf


OTHER = LayerShape()
RECTIFIER = LayerShape(zero=0.0)
SMOOTH = LayerShape(zero=_NIL)
SIGMOID = LayerShape(low=(1 - sqrt(1 - _FLAT)) / 2, high=(1 + sqrt(1 - _FLAT)) / 2)
TANH = LayerShape(low=-sqrt(1 - _FLAT), high=sqrt(1 - _FLAT))
SOFTSIGN = LayerShape(low=sqrt(_FLAT) - 1, high=1 - sqrt(_FLAT))
HARD_SIGMOID = LayerShape(low=0.0, high=1.0)
_SELU_SCALE, _SELU_ALPHA = 1.0507009873554805, 1.6732632423543772


def bounded(low: float, high: float) -> LayerShape:
    """Cut off at two limits; a lower limit of zero is that of a rectifier."""
    return LayerShape(zero=0.0, high=high) if low == 0 else LayerShape(low=low, high=high)


def exponential(alpha: float, scale: float = 1.0) -> LayerShape:
    return LayerShape(low=scale * (_FLAT - alpha))


def celu(alpha: float) -> LayerShape:
    return LayerShape(low=alpha * (_FLAT - 1))


SELU = exponential(_SELU_ALPHA, _SELU_SCALE)

# Activations by their names, as people and libraries call them. The first that fits counts.
_ACTIVATION_WORDS: tuple[tuple[str, LayerShape], ...] = (
    (r"leaky|prelu|rrelu|glu|snake|softmax", OTHER),
    (r"gelu|silu|swish|mish|softplus", SMOOTH),
    (r"relu", RECTIFIER),
    (r"hardsigmoid", HARD_SIGMOID),
    (r"sigmoid|logistic", SIGMOID),
    (r"tanh", TANH),
    (r"elu|activation|^sine?$", OTHER),
)


def activation_by_name(name: str) -> LayerShape | None:
    """The shape of an activation; None for other names, and for softmax: no unit of it dies."""
    name = name.lower()
    if "softmax" in name or "loss" in name:
        return None
    return next((shape for word, shape in _ACTIVATION_WORDS if re.search(word, name)), None)


# Layers by the names of their classes. The first that fits counts.
_LAYER_WORDS: tuple[tuple[str, str], ...] = (
    (r"norm", "norm"),
    (r"embedding", "embedding"),
    (r"attention|transformer", "attention"),
    (r"lstm|gru|rnn|recurrent", "recurrent"),
    (r"conv", "conv"),
    (r"^(lazy)?linear$|^dense$", "dense"),
    (r"dropout", "dropout"),
    (r"pool", "pooling"),
)


def layer_kind(class_name: str) -> str:
    """`dense`, `conv`, `recurrent`, `attention`, `norm`, `embedding` ..., or `other`."""
    name = class_name.lower()
    return next((kind for word, kind in _LAYER_WORDS if re.search(word, name)), "other")


def kind_of_layer(fact: Mapping[str, object]) -> str:
    """The kind of a layer that a recording lists."""
    kind = fact.get("kind")
    return kind if isinstance(kind, str) else layer_kind(str(fact.get("type", "")))


# What a loss compares: logits, log-probabilities or probabilities of classes; numbers.
LOSS_KINDS = {
    "cross_entropy": "softmax_cross_entropy",
    "nll_loss": "log_likelihood",
    "binary_cross_entropy_with_logits": "sigmoid_cross_entropy",
    "binary_cross_entropy": "binary_cross_entropy",
    "mse_loss": "mse",
    "l1_loss": "mae",
    "smooth_l1_loss": "smooth_mae",
    "huber_loss": "huber",
    "gaussian_nll_loss": "gaussian_likelihood",
    "poisson_nll_loss": "poisson",
    "kl_div": "kl_divergence",
    "multi_margin_loss": "class_hinge",
    "hinge_embedding_loss": "hinge",
}
# Losses that compare each output with a target of its own size.
REGRESSION = frozenset({"mse", "mae", "smooth_mae", "huber"})
# Cross-entropies of one class among several, and of yes or no.
BY_CLASS = frozenset({"softmax_cross_entropy", "log_likelihood", "categorical_cross_entropy"})
BY_SIGN = frozenset({"sigmoid_cross_entropy", "binary_cross_entropy"})


def loss_kind(fact: Mapping[str, object]) -> str:
    """The kind of a loss function that a recording lists; its own name where no kind is known."""
    kind = fact.get("kind")
    if isinstance(kind, str) and kind:
        return kind
    function = str(fact.get("function", ""))
    return LOSS_KINDS.get(function, function)
