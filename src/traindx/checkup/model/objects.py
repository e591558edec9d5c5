"""A model, batches and a loss, however they are given: `train.py:make_model`, a name, an object."""

from __future__ import annotations

import inspect
import itertools
import os
import runpy
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from traindx.core.nouns import Unreadable

LOSSES = {
    "cross_entropy": "cross_entropy", "mse": "mse_loss", "mae": "l1_loss", "l1": "l1_loss",
    "huber": "huber_loss", "bce": "binary_cross_entropy_with_logits", "nll": "nll_loss",
}  # fmt: skip

_LABELS = ("labels", "label", "targets", "target", "y")
_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class LabelledBatch:
    """What a model is called with, and the targets; a model that computes its own loss has none."""

    arguments: tuple[Any, ...]
    keywords: Mapping[str, Any]
    target: Any

    @property
    def first(self) -> Any:
        """The first array or tensor that the model is given; None where there is none."""
        inputs = (*self.arguments, *self.keywords.values())
        return next((value for value in inputs if hasattr(value, "shape")), None)

    @property
    def rows(self) -> int:
        first = self.first
        return int(first.shape[0]) if first is not None and len(first.shape) else 1


def object_of(text: str) -> Any:
    """What `file.py:name` names: called if it is a function without required arguments."""
    path, _, name = text.rpartition(":")
    if not os.path.isfile(path):
        raise Unreadable(f"{path}: there is no such file")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    try:
        names = runpy.run_path(path, run_name="traindx_check")
        if name not in names:
            raise Unreadable(f"{path} has no {name}")
        return _called_if_function(names[name], text)
    except Unreadable:
        raise
    except (Exception, SystemExit) as error:
        raise Unreadable(f"{text} failed with {type(error).__name__}: {error_line(error)}") from None
    finally:
        sys.path.pop(0)


def _called_if_function(value: Any, text: str) -> Any:
    import torch

    if isinstance(value, torch.nn.Module) or not callable(value) or hasattr(value, "__iter__"):
        return value
    needed = [
        parameter.name
        for parameter in inspect.signature(value).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]
    if needed:
        raise Unreadable(f"{text} needs arguments ({', '.join(needed)}): name a function that needs none")
    return value()


def loss_of(loss: Any) -> Callable[[Any, Any], Any] | None:
    """A function of output and target; None where the model is to give its own loss."""
    from torch.nn import functional

    if loss is None or callable(loss):
        return loss  # type: ignore[no-any-return]
    if ":" in str(loss):
        path, _, name = str(loss).rpartition(":")
        return _loss_in(path, name)
    function = getattr(functional, LOSSES.get(str(loss), str(loss)), None)
    if function is None:
        raise Unreadable(f"there is no loss {loss}: give one of {', '.join(LOSSES)}, or file.py:name")
    return function  # type: ignore[no-any-return]


def _loss_in(path: str, name: str) -> Callable[[Any, Any], Any]:
    if not os.path.isfile(path):
        raise Unreadable(f"{path}: there is no such file")
    try:
        function = runpy.run_path(path, run_name="traindx_check").get(name)
    except (Exception, SystemExit) as error:
        raise Unreadable(f"{path}:{name} failed with {type(error).__name__}: {error_line(error)}") from None
    if not callable(function):
        raise Unreadable(f"{path} has no function {name} of output and target")
    return function  # type: ignore[no-any-return]


def batches_of(loader: Any, most: int, model: Any = None) -> list[LabelledBatch]:
    """The first batches of whatever gives them; raises Unreadable with one line for what is none."""
    if not hasattr(loader, "__iter__"):
        raise Unreadable(f"the data give no batches: a {type(loader).__name__} cannot be iterated over")
    if isinstance(loader, str | bytes):
        raise Unreadable("the data are a text: give a loader that yields batches of tensors")
    try:
        batches = [batch_of(item, model) for item in itertools.islice(iter(loader), most)]
    except Unreadable:
        raise
    except Exception as error:
        raise Unreadable(f"the loader failed with {type(error).__name__}: {error_line(error)}") from None
    if not batches:
        raise Unreadable("the loader gives no batch")
    return batches


def batch_of(batch: Any, model: Any = None) -> LabelledBatch:
    """What a loader yields as inputs and target: of a tuple the last, or what follows the model's inputs."""
    import torch

    if isinstance(batch, torch.Tensor) or hasattr(batch, "__array__"):
        return LabelledBatch((_tensor(batch),), {}, None)
    if isinstance(batch, Mapping):
        return _of_names({key: _tensor(value) for key, value in batch.items()}, _parameters(model))
    if isinstance(batch, list | tuple) and len(batch) > 1:
        positional = [parameter for parameter in _parameters(model).values() if parameter.kind in _POSITIONAL]
        counted = bool(positional) and not any(
            parameter.kind is parameter.VAR_POSITIONAL for parameter in _parameters(model).values()
        )
        inputs = min(len(positional), len(batch) - 1) if counted else len(batch) - 1
        values = tuple(map(_tensor, batch))
        return LabelledBatch(values[:inputs], {}, values[inputs])
    if isinstance(batch, list | tuple) and len(batch) == 1:
        return LabelledBatch((_tensor(batch[0]),), {}, None)
    raise Unreadable(f"the loader yields a {type(batch).__name__}: expected (inputs, targets) or a dict")


def _of_names(batch: dict[str, Any], parameters: Mapping[str, inspect.Parameter]) -> LabelledBatch:
    """A dict by the names of the model's arguments; where none agrees, its inputs in order."""
    label = next((name for name in _LABELS if name in batch), "")
    by_name = (
        any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()) or not parameters
    )
    keywords = {name: value for name, value in batch.items() if by_name or name in parameters}
    if keywords and set(keywords) != {label}:
        return LabelledBatch((), keywords, batch.get(label))
    inputs = [value for name, value in batch.items() if name != label and hasattr(value, "shape")]
    return LabelledBatch(tuple(inputs[: len(parameters)]), {}, batch.get(label))


def _parameters(model: Any) -> Mapping[str, inspect.Parameter]:
    try:
        return inspect.signature(model.forward).parameters
    except (AttributeError, TypeError, ValueError):
        return {}


def _tensor(value: Any) -> Any:
    """NumPy's and TensorFlow's arrays as tensors; anything else as it is."""
    import numpy as np
    import torch

    if isinstance(value, torch.Tensor) or not hasattr(value, "__array__"):
        return value
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        return value
    return torch.from_numpy(np.array(array, dtype=np.float32 if array.dtype == np.float64 else array.dtype))


def loss_on(model: Any, batch: LabelledBatch, loss_fn: Callable[[Any, Any], Any] | None) -> tuple[Any, Any]:
    """Output and loss of a batch; raises Unreadable with one line where they do not fit."""
    try:
        output = model(*batch.arguments, **batch.keywords)
        if loss_fn is None:
            own_loss = output.get("loss") if isinstance(output, Mapping) else getattr(output, "loss", None)
            if own_loss is None:
                raise Unreadable(
                    f"the model gives no loss of its own: give --loss ({', '.join(LOSSES)}, or file.py:name)"
                )
            return output, own_loss
        answer = getattr(output, "logits", output)
        return answer, loss_fn(answer, batch.target)
    except Unreadable:
        raise
    except Exception as error:
        shapes = ", ".join(
            str(tuple(argument.shape)) for argument in batch.arguments if hasattr(argument, "shape")
        )
        reason = f"{type(error).__name__}: {error_line(error)}"
        raise Unreadable(
            f"the model and loss do not take the batch (inputs {shapes or '?'}): {reason}"
        ) from None


def loss_of_constant(
    output: Any, batch: LabelledBatch, loss_fn: Callable[[Any, Any], Any] | None
) -> float | None:
    """The loss of answering the mean of the targets throughout; None where these are no numbers."""
    target = batch.target
    if loss_fn is None or not getattr(target, "is_floating_point", lambda: False)():
        return None
    if getattr(output, "shape", None) != target.shape or not len(target.shape):
        return None
    try:
        return float(loss_fn(target.mean(0, keepdim=True).expand_as(target), target))
    except (RuntimeError, TypeError, ValueError):
        return None


def error_line(error: BaseException) -> str:
    return " ".join(str(error).split())[:160]
