"""Loss functions of torch: where the script calls them, and where they reach its compiled code.

The Python functions around the compiled code (`F.mse_loss`, `nn.MSELoss`) stay untouched while nobody listens
to `loss_call`, so that their warnings still name the user's line.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional

from traindx.observe.hooks.bus import Channel
from traindx.observe.torch.module_tensors import out_of_reach
from traindx.observe.torch.places.patches import Function, Patches

_IN_NN = {
    "cross_entropy_loss": "cross_entropy",
    "nll_loss_nd": "nll_loss",
    "binary_cross_entropy": "binary_cross_entropy",
    "mse_loss": "mse_loss",
    "l1_loss": "l1_loss",
    "smooth_l1_loss": "smooth_l1_loss",
    "huber_loss": "huber_loss",
    "multilabel_margin_loss": "multilabel_margin_loss",
    "soft_margin_loss": "soft_margin_loss",
    "multi_margin_loss": "multi_margin_loss",
}
_IN_TORCH = (
    "binary_cross_entropy_with_logits kl_div ctc_loss poisson_nll_loss hinge_embedding_loss "
    "cosine_embedding_loss margin_ranking_loss triplet_margin_loss"
).split()
_CALLED = (
    "cross_entropy nll_loss binary_cross_entropy binary_cross_entropy_with_logits mse_loss l1_loss "
    "smooth_l1_loss huber_loss kl_div poisson_nll_loss gaussian_nll_loss multilabel_margin_loss "
    "multilabel_soft_margin_loss multi_margin_loss soft_margin_loss hinge_embedding_loss "
    "cosine_embedding_loss margin_ranking_loss"
).split()


def loss_computed(patches: Patches, event: Channel) -> None:
    """Each loss function of the compiled code: what it was given and what it gave."""

    def observer(name: str) -> Callable[[Function], Function]:
        def replaced(original: Function) -> Function:
            def observed(*args: Any, **kwargs: Any) -> Any:
                result = original(*args, **kwargs)
                for call in event.calls:
                    call(name, args, kwargs, result)
                return result

            return observed

        return replaced

    for inside, name in _IN_NN.items():
        patches.replace(torch._C._nn, inside, observer(name))
    for name in _IN_TORCH:
        patches.replace(torch, name, observer(name))


class LossArguments:
    """One call of a loss function by the names of its parameters; whatever is set here is used."""

    def __init__(self, name: str, arguments: dict[str, Any]) -> None:
        self.name = name
        self.given = arguments
        self.training = torch.is_grad_enabled()

    @property
    def input(self) -> Any:
        return self.given.get("input", self.given.get("input1"))

    @input.setter
    def input(self, new: Any) -> None:
        self.given["input" if "input" in self.given else "input1"] = new

    @property
    def target(self) -> Any:
        return self.given.get("target")

    @target.setter
    def target(self, new: Any) -> None:
        self.given["target"] = new


def loss_call(patches: Patches, event: Channel) -> None:
    """Each function of `torch.nn.functional` as the script calls it, before what it is given is used."""
    busy: list[str] = []

    def observer(name: str) -> Callable[[Function], Function]:
        def replaced(original: Function) -> Function:
            names = tuple(inspect.signature(original).parameters)

            def loss(*args: Any, **kwargs: Any) -> Any:
                # Some loss functions are written by means of others.
                if busy or torch.compiler.is_compiling() or out_of_reach():
                    return original(*args, **kwargs)
                call = LossArguments(name, dict(zip(names, args, strict=False)) | kwargs)
                busy.append(name)
                try:
                    if isinstance(call.input, torch.Tensor) and isinstance(call.target, torch.Tensor):
                        for listener in event.calls:
                            listener(call)
                    return original(**call.given)
                finally:
                    busy.pop()

            return loss

        return replaced

    for name in _CALLED:
        patches.replace(functional, name, observer(name))
