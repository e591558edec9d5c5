"""The first batch again and again, at the place where this training can be given it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn

from traindx.experiment.runtime.frames import place_in_script
from traindx.experiment.runtime.torch.streams import Streams
from traindx.experiment.runtime.torch.tensors import copied, tensors_in

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks
    from traindx.experiment.runtime.torch.feeding import LoaderPass
    from traindx.observe.torch.places.losses import LossArguments
    from traindx.observe.torch.places.models import ModelCall

_AGAIN = "the same batch is drawn at every step: the states of the random generators are put back"
_NOT_DRAWN = (
    "no DataLoader gives the batches, and the script does not draw the same batch again when the states of "
    "the random generators are put back"
)


class Repeating:
    """Learns from the first step where batches come from; from the second on, repeats."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._way = ""
        self._firsts: dict[tuple[str, int], Any] = {}
        self._calls = Calls()
        self._fetches = self._fetches_before = 0
        self._lead: int | None = None
        self._steps = 0
        self._streams = Streams()
        self._checksums: list[list[float]] = [[], []]

    # Where batches come from.

    def on_batch(self, batch: Any, source: LoaderPass, trains: bool) -> Any:
        if not torch.is_grad_enabled() or self._way in ("calls", "streams"):
            return batch
        self._fetches += 1
        first = self._firsts.setdefault(source.site, copied(batch))
        if not trains:
            return batch
        # A loader made anew gives the batch of the one before.
        shapes = ", ".join("x".join(map(str, tensor.shape)) for _, tensor in tensors_in(first))
        self._hooks.changed(f"the first batch of the DataLoader ({shapes}) is given at every step")
        return copied(first)

    def on_model_call(self, call: ModelCall, root: nn.Module) -> None:
        if not self._calls.trains(call, root):
            return
        if self._way == "streams":
            self._checksums[-1] += [_checksum(tensor) for _, tensor in call.tensors()]
        else:
            self._calls.model(call, again=self._way == "calls")

    def on_loss_call(self, loss: LossArguments) -> None:
        if not (loss.training and loss.input.requires_grad and self._calls.training):
            return
        if self._way == "streams":
            self._checksums[-1].append(_checksum(loss.target))
        else:
            self._calls.loss(loss, again=self._way == "calls")

    # What the first steps show.

    def backward(self) -> None:
        source = self._hooks.training.feeding.last
        if self._way == "loader" and self._steps == 1 and self._fetches == self._fetches_before:
            # Loaded once, used again and again: batches are made of it elsewhere.
            self._way = ""
        elif not self._way and source is not None and not self._steps:
            self._way = "loader"
        if not self._way:
            self._way = "calls" if self._calls.complete else "streams"

    def stepped(self, optimizer: object) -> None:
        if self._lead is None:
            self._lead = id(optimizer)
        if self._lead != id(optimizer):
            return
        self._steps += 1
        self._fetches_before = self._fetches
        self._calls.next_step()
        if self._way == "calls":
            shapes = self._calls.shapes()
            self._hooks.changed(f"inputs ({shapes}) and targets of the first step are given at every step")
        elif self._way == "streams":
            self._repeat_streams()

    def _repeat_streams(self) -> None:
        if self._steps == 1 or not self._streams.saved:
            self._streams.save()
            self._checksums = [[], []]
            return
        first, now = self._checksums[0], self._checksums[-1]
        if not now:
            self._hooks.cannot("nothing shows which batch the script trains on: no model or loss was called")
        if not first:
            self._checksums[0] = now
        elif first != now:
            self._hooks.cannot(_NOT_DRAWN)
        else:
            self._hooks.changed(_AGAIN)
        self._checksums[-1] = []
        self._streams.restore()


class Calls:
    """What models and losses were given at each place of the script in the first step."""

    def __init__(self) -> None:
        self.training = True
        self._in_training_mode: bool | None = None
        self._inputs: dict[Any, tuple[Any, Any]] = {}
        self._targets: dict[Any, torch.Tensor] = {}
        self._counts: dict[Any, int] = {}

    @property
    def complete(self) -> bool:
        return bool(self._inputs and self._targets)

    def next_step(self) -> None:
        self._counts.clear()

    def trains(self, call: ModelCall, root: nn.Module) -> bool:
        """A model in eval mode is evaluated, also while gradients are recorded, if it trains in the other."""
        if not call.fresh:
            return False
        self.training = call.training and not (self._in_training_mode and not root.training)
        if self.training and self._in_training_mode is None:
            self._in_training_mode = root.training
        return self.training

    def model(self, call: ModelCall, *, again: bool) -> None:
        key = self._key("model")
        if key not in self._inputs:
            self._inputs[key] = copied(call.args), copied(call.kwargs)
        elif again:
            args, kwargs = self._inputs[key]
            call.args, call.kwargs = copied(args), copied(kwargs)

    def loss(self, loss: LossArguments, *, again: bool) -> None:
        if loss.target.requires_grad:
            return
        key = (*self._key("loss"), loss.name)
        if key not in self._targets:
            self._targets[key] = copied(loss.target)
        elif again:
            loss.target = self._targets[key].clone()

    def shapes(self) -> str:
        args, kwargs = next(iter(self._inputs.values()))
        shapes = ["x".join(map(str, tensor.shape)) for _, tensor in tensors_in([*args, kwargs])]
        calls_text = f", {len(self._inputs)} calls of the model" if len(self._inputs) > 1 else ""
        return ", ".join(shapes[:4]) + calls_text

    def _key(self, kind: str) -> tuple[Any, ...]:
        """The place in the script, and how often it was passed in this step."""
        place = (kind, *place_in_script())
        count = self._counts[place] = self._counts.get(place, 0) + 1
        return (*place, count)


def _checksum(tensor: torch.Tensor) -> float:
    return float(tensor.detach().double().sum())
