"""What softmax and sigmoid were given, for losses that want just that."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

if TYPE_CHECKING:
    from traindx.experiment.runtime.hooks import Hooks
    from traindx.observe.torch.places.losses import LossArguments

_KEPT = 8
_WANTS = {"cross_entropy": ("softmax", "log_softmax"), "binary_cross_entropy_with_logits": ("sigmoid",)}
_CLOSE = 1e-3


class Logits:
    """The last results by their place in memory, with what they were made of."""

    def __init__(self, hooks: Hooks) -> None:
        self._hooks = hooks
        self._results: OrderedDict[int, tuple[str, torch.Tensor, torch.Tensor]] = OrderedDict()
        self._inside = False

    def remember(self, name: str) -> Callable[..., Any]:
        def function(original: Any, input: Any, *args: Any, **kwargs: Any) -> Any:
            if self._inside:
                return original(input, *args, **kwargs)
            self._inside = True
            try:
                result = original(input, *args, **kwargs)
            finally:
                self._inside = False
            if isinstance(input, torch.Tensor) and isinstance(result, torch.Tensor):
                # Kept alive, so that no other tensor takes its address.
                self._results.pop(result.data_ptr(), None)
                self._results[result.data_ptr()] = (name, result.detach(), input)
                while len(self._results) > _KEPT:
                    self._results.popitem(last=False)
            return result

        return function

    def on_loss_call(self, loss: LossArguments) -> None:
        """The loss is given what came before the last softmax or sigmoid."""
        with self._hooks.aside():
            if loss.name in _WANTS:
                origin = self._origin(loss.input)
                if origin is not None and origin[0] in _WANTS[loss.name]:
                    loss.input = origin[1]
                    self._hooks.changed(f"{loss.name} is given what {origin[0]} was given, not its result")
            elif loss.name == "nll_loss":
                self._log_probabilities(loss)

    def _origin(self, output: torch.Tensor) -> tuple[str, torch.Tensor] | None:
        """Also for another view of the result."""
        entry = self._results.get(output.data_ptr())
        if entry is None or entry[2].numel() != output.numel():
            return None
        name, _, input = entry
        if output.shape == input.shape and output.stride() == input.stride():
            return name, input
        contiguous = input.contiguous()
        return name, torch.as_strided(contiguous, output.shape, output.stride(), contiguous.storage_offset())

    def _log_probabilities(self, loss: LossArguments) -> None:
        output = loss.input
        axis = 1 if output.dim() > 1 else 0
        plain = output.detach().float()
        if float(plain.logsumexp(axis).abs().max()) < _CLOSE:
            return
        origin = self._origin(output)
        if origin is not None and origin[0] == "softmax":
            loss.input = functional.log_softmax(origin[1], axis)
            text = "the log-softmax of what softmax was given, not probabilities"
        elif bool((plain >= 0).all()) and float((plain.sum(axis) - 1).abs().max()) < _CLOSE:
            loss.input = output.clamp(min=torch.finfo(output.dtype).tiny).log()
            text = "logarithms of probabilities"
        else:
            loss.input = functional.log_softmax(output, axis)
            text = "the log-softmax of the outputs, not the outputs"
        self._hooks.changed(f"nll_loss is given {text}")
