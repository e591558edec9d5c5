"""What the first step shows before its backward pass, and the measurements made of it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from traindx.experiment.runtime.torch.measuring import chance, memory, modes, sample_independence
from traindx.experiment.runtime.torch.measuring.model import RepeatableCall
from traindx.experiment.runtime.torch.streams import Streams
from traindx.experiment.runtime.torch.tensors import copied
from traindx.observe.recorder import current
from traindx.observe.torch.places.models import mapped

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks
    from traindx.experiment.runtime.torch.feeding import LoaderPass
    from traindx.observe.torch.places.losses import LossArguments
    from traindx.observe.torch.places.models import ModelCall

Measure = Callable[["FirstStep"], dict[str, Any]]


class Unmeasured(Exception):
    """It cannot be measured here; the message says why."""


class FirstStep:
    """The batch, the call of the largest model and the calls of loss functions up to the first backward."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._is_measured = False
        self.batch_size: int | None = None
        self.models: list[RepeatableCall] = []
        self.losses: list[LossArguments] = []
        self.backward_on: tuple[torch.Tensor, ...] = ()

    def on_batch(self, batch: Any, source: LoaderPass, trains: bool) -> Any:
        del trains
        size = getattr(source.loader, "batch_size", None)
        if not self._is_measured and torch.is_grad_enabled():
            self.batch_size = size if isinstance(size, int) else None
        return batch

    def on_model_call(self, call: ModelCall, root: nn.Module) -> None:
        if not self._is_measured and call.training:
            self.models.append(RepeatableCall(root, copied(call.args), copied(call.kwargs)))

    def on_loss_call(self, loss: LossArguments) -> None:
        if not self._is_measured and loss.training and loss.input.requires_grad:
            self.losses.append(loss)

    def backward(self, losses: tuple[torch.Tensor, ...]) -> None:
        if self._is_measured:
            return
        self._is_measured = True
        self.backward_on = losses
        parts: dict[str, Measure] = {
            "start": chance.measured,
            "inputs": modes.inputs,
            "modes": modes.measured,
            "items": sample_independence.measured,
            "memory": memory.measured,
        }
        measurements = {name: self._measured(measure) for name, measure in parts.items()}
        recorder = current()
        if recorder is not None:
            recorder.fact("measured", measurements)
        able = [name for name, numbers in measurements.items() if "why" not in numbers]
        self._hooks.changed(f"measured at the first step: {', '.join(able) or 'nothing'}")
        self.models.clear()
        self.losses.clear()

    def _measured(self, measure: Measure) -> dict[str, Any]:
        try:
            with self._aside():
                return measure(self)
        except Unmeasured as error:
            return {"why": str(error)}
        except Exception as error:
            text = f"{type(error).__name__}: {error}".splitlines()[0][:200]
            return {"why": f"measuring it failed in this model ({text})"}

    @contextlib.contextmanager
    def _aside(self) -> Iterator[None]:
        """What is done here is not the training's: neither seen by changes nor drawn from its streams."""
        with Streams().kept(), self._hooks.aside(), contextlib.ExitStack() as stack:
            for model_call in self.models:
                stack.enter_context(model_call.kept())
            yield

    @property
    def model(self) -> RepeatableCall:
        """The call of the largest model."""
        if not self.models:
            raise Unmeasured("no model was called with gradients before the first backward pass")
        return max(self.models, key=lambda model: model.size)


def zeroed(value: Any) -> Any:
    """The same structure with numbers as zeros and whole numbers as one of them."""
    from traindx.experiment.runtime.torch.labels import is_input

    def blank(name: str, tensor: torch.Tensor) -> torch.Tensor:
        if not is_input(name, tensor):
            return tensor
        if tensor.is_floating_point() or tensor.is_complex():
            return torch.zeros_like(tensor)
        return torch.full_like(tensor, int(tensor.flatten().median()))

    return mapped(value, "", blank)
