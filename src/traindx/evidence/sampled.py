"""The sampled facts of a recorded training: few values each, so medians of their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.core.facts import Fact, sizes, words
from traindx.core.kinds import REGRESSION, kind_of_layer

if TYPE_CHECKING:
    from traindx.evidence.case import Case
    from traindx.evidence.curve import Curve

_LAYERS = ("Addmm", "Convolution", "Mm", "CompiledFunction")
SQUASHING = {
    "Sigmoid": (0.0, 1.0),
    "Softmax": (0.0, 1.0),
    "Tanh": (-1.0, 1.0),
    "Relu": (0.0, float("inf")),
    "Softplus": (0.0, float("inf")),
    "Hardsigmoid": (0.0, 1.0),
    "Hardtanh": (-1.0, 1.0),
}
# Losses whose outputs are numbers of the targets' own kind.
COMPARING = REGRESSION | {"gaussian_likelihood"}
_ODD = frozenset({"gan", "rl", "preference"})


def sampled(case: Case, name: str, points: int = 1) -> Curve | None:
    """A sampled series with at least so many finite values."""
    curve = case.curve(name)
    return curve if curve is not None and len(curve) >= points else None


def late(curve: Curve) -> float:
    """Its level in the last third of the run: samples are dense at first."""
    begin = float(curve.x[-1]) - (float(curve.x[-1]) - float(curve.x[0])) / 3.0
    return float(np.median(curve.y[-max(2, int((curve.x >= begin).sum())) :]))


def loss_series(case: Case, loss: Fact, name: str) -> str:
    """The series of what reached a loss function: the first gives the names, others bear their own."""
    side, _, statistic = name.partition("/")
    own = f"{side}@{loss.get('function')}/{statistic}"
    return own if case.curve(own) is not None else name if loss is case.inside.losses[0] else own


def usual(case: Case, name: str) -> float | None:
    """The median over all samples."""
    curve = sampled(case, name)
    return float(np.median(curve.y)) if curve is not None else None


def only_loss(case: Case) -> Fact | None:
    """The loss function, where there is exactly one and one optimizer: several make roles unclear."""
    losses = case.inside.losses
    return losses[0] if len(losses) == 1 and len(case.inside.optimizers) <= 1 else None


def one_target_each(case: Case) -> bool:
    """Whether the loss compares with one number for each sample: what loaders give may be used otherwise."""
    shapes = [str(loss.get("target_shape", "")).split("x") for loss in case.inside.losses]
    return not shapes or (len(shapes) == 1 and (len(shapes[0]) == 1 or shapes[0][1:] == ["1"]))


def ends(loss: Fact) -> list[str]:
    """The operations between the last layer and the loss, the last first."""
    return words(loss, "after_layers")


def part(fact: Mapping[str, Any], name: str) -> Fact:
    """An object inside a fact; empty when it is not there."""
    value = fact.get(name)
    return value if isinstance(value, Mapping) else {}


def training_loader(case: Case) -> Fact | None:
    loaders = [loader for loader in case.inside.loaders if loader.get("role") == "training"]
    return loaders[0] if len(loaders) == 1 else None


def starts_with_norm(case: Case) -> bool:
    """Whether the first layer of the model normalises its input."""
    layers = case.inside.layer_list
    return bool(layers) and kind_of_layer(layers[0]) == "norm"


def compares_samples(loss: Fact) -> bool:
    """Whether a loss compares the samples of a batch with each other: as many answers as samples that no
    layer gives, or answers that are put together and divided by a temperature."""
    after = ends(loss)
    shape = sizes(loss.get("output_shape"))
    square = len(shape) == 2 and abs(shape[0] - shape[1]) <= 2
    of_a_layer = not after or after[0] in _LAYERS
    return {"Cat", "Div"} <= {*after} or (square and not of_a_layer)


def odd_objective(case: Case) -> bool:
    """Whether the loss is of a kind where outputs and targets do not mean what they mean elsewhere."""
    if case.surrogate or case.traits & _ODD or len(case.inside.optimizers) > 1:
        return True
    return any(map(compares_samples, case.inside.losses))
