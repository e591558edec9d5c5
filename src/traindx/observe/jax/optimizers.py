"""Optimizers of optax: their arguments as they are made, and gradients from the moments that they keep."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.observe.arrays import Values
from traindx.observe.jax.tracing import frame

if TYPE_CHECKING:
    from traindx.observe.jax.process import JaxTraining

# PyTorch's spelling of the same optimizer, which the detectors know.
_CLASSES = {
    "adam": "Adam",
    "adamw": "AdamW",
    "sgd": "SGD",
    "rmsprop": "RMSprop",
    "adagrad": "Adagrad",
    "adadelta": "Adadelta",
    "nadam": "NAdam",
    "nadamw": "NAdamW",
    "lion": "Lion",
    "lamb": "LAMB",
    "lars": "LARS",
    "adafactor": "Adafactor",
    "radam": "RAdam",
    "adamax": "Adamax",
    "adabelief": "AdaBelief",
    "amsgrad": "Adam",
    "noisy_sgd": "SGD",
    "scale_by_adam": "Adam",
}
_CLIPPING = {"clip_by_global_norm": "norm", "clip": "value", "adaptive_grad_clip": "norm of each unit"}
FACTORIES = (*_CLASSES, *_CLIPPING, "add_decayed_weights")
_SETTINGS = {
    "b1": "beta1",
    "b2": "beta2",
    "eps": "eps",
    "weight_decay": "weight_decay",
    "momentum": "momentum",
}


def noted(training: JaxTraining, name: str, factory: Callable[..., Any]) -> Callable[..., Any]:
    """The factory of a transformation; what it was given is known when its `update` is called."""
    signature = inspect.signature(factory)

    @functools.wraps(factory)
    def make(*args: Any, **kwargs: Any) -> Any:
        transform = factory(*args, **kwargs)
        if not training.active:
            return transform
        try:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            fact = transformation(name, bound.arguments)
            return transform._replace(update=_noting_update(training, transform.update, fact))
        except Exception as error:
            training.recorder.failed("optimizers", error)
            return transform

    return make


def _noting_update(
    training: JaxTraining, update: Callable[..., Any], fact: dict[str, Any]
) -> Callable[..., Any]:
    @functools.wraps(update)
    def observed(*args: Any, **kwargs: Any) -> Any:
        result = update(*args, **kwargs)
        open_frame = frame()
        if open_frame is not None:
            state = args[1] if len(args) > 1 else kwargs.get("state")
            training.guard("tracing", open_frame.optimizer, fact, state, result[1])
        elif training.active:
            training.optimizer(fact)
        return result

    return observed


def transformation(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """What is known of a transformation; `schedule` is the function of its learning rate, if there is one."""
    if name in _CLIPPING:
        limit = next(iter(arguments.values()))
        return {"clips": _CLIPPING[name], "limit": _number(limit)}
    if name == "add_decayed_weights":
        return {"decay": _number(next(iter(arguments.values())))}
    rate = arguments.get("learning_rate")
    group = {
        ours: number
        for theirs, ours in _SETTINGS.items()
        if (number := _number(arguments.get(theirs))) is not None
    }
    fact: dict[str, Any] = {"class": _CLASSES[name], "name": name, "group": group, "lr": _number(rate)}
    fact["schedule"] = rate if callable(rate) else None
    return fact


def _number(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float | np.generic) else None
    except Exception:  # a value of JAX that is being traced
        return None


def gradient(fact: dict[str, Any], moment: str, before: Values, after: Values) -> Values | None:
    """The gradient that turned one moment into the next."""
    if moment == "mu":
        beta = fact["group"].get("beta1")
        if fact["class"] == "Lion":
            beta = fact["group"].get("beta2")
        return (after - beta * before) / (1 - beta) if beta is not None and beta < 1 else None
    momentum = fact["group"].get("momentum")
    return after - momentum * before if moment == "trace" and momentum is not None else None
