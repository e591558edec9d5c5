"""Looks into a recorded training: few values each, so medians of their ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from traindx.evidence.case import Case, Curve
from traindx.evidence.inside import Fact, facts, number, words

SQUASHING = {
    "Sigmoid": (0.0, 1.0),
    "Softmax": (0.0, 1.0),
    "Tanh": (-1.0, 1.0),
    "Relu": (0.0, float("inf")),
    "Softplus": (0.0, float("inf")),
    "Hardsigmoid": (0.0, 1.0),
    "Hardtanh": (-1.0, 1.0),
}
REGRESSION = frozenset({"mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"})
# Losses whose outputs are numbers of the targets' own kind.
COMPARING = REGRESSION | {"gaussian_nll_loss"}
_ODD = frozenset({"gan", "rl", "preference"})


def looked(case: Case, name: str, points: int = 1) -> Curve | None:
    """A series of the looks with at least so many finite values."""
    curve = case.curve(name)
    return curve if curve is not None and len(curve) >= points else None


def late(curve: Curve) -> float:
    """Its level in the last third of the looks."""
    return float(np.median(curve.y[-max(2, len(curve) // 3) :]))


def usual(case: Case, name: str) -> float | None:
    """The median over all looks."""
    curve = looked(case, name)
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


def class_shares(case: Case) -> dict[int, float]:
    """The share of each class among the targets that were looked at."""
    counts = {key: value for key, value in case.inside.fact("classes").items() if isinstance(value, int)}
    total = sum(counts.values())
    return {int(key): value / total for key, value in counts.items() if str(key).isdigit()} if total else {}


def training_loader(case: Case) -> Fact | None:
    loaders = [one for one in case.inside.loaders if one.get("role") == "training"]
    return loaders[0] if len(loaders) == 1 else None


def starts_with_norm(case: Case) -> bool:
    """Whether the first layer of the model normalises its input."""
    layers = case.inside.layer_list
    return bool(layers) and "Norm" in str(layers[0].get("type", ""))


def does_well(case: Case) -> bool:
    """Whether the answers of the model on its training batches end up mostly right."""
    right, explained = looked(case, "output/right_share", 2), looked(case, "output/explained", 2)
    top = looked(case, "target/top_share")
    if right is not None:
        base = float(np.median(top.y)) if top is not None else 0.5
        return late(right) >= 0.5 + 0.5 * max(base, 0.6)
    return explained is not None and late(explained) >= 0.8


def odd_objective(case: Case) -> bool:
    """Whether the loss is of a kind where outputs and targets do not mean what they mean elsewhere."""
    return case.surrogate or bool(case.traits & _ODD) or len(case.inside.optimizers) > 1


__all__ = [
    "COMPARING",
    "REGRESSION",
    "SQUASHING",
    "class_shares",
    "does_well",
    "ends",
    "facts",
    "late",
    "looked",
    "number",
    "odd_objective",
    "one_target_each",
    "only_loss",
    "part",
    "starts_with_norm",
    "training_loader",
    "usual",
    "words",
]
