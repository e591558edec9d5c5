"""Torch's loss functions, where the script calls them: before the recorder sees what they are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional

from traindx.experiment.runtime.torch.calls import out_of_reach
from traindx.observe.torch.patches import Patches

if TYPE_CHECKING:
    from traindx.experiment.runtime.joints import Training

NAMES = (
    "cross_entropy",
    "nll_loss",
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "mse_loss",
    "l1_loss",
    "smooth_l1_loss",
    "huber_loss",
    "kl_div",
    "poisson_nll_loss",
    "gaussian_nll_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "multi_margin_loss",
    "soft_margin_loss",
    "hinge_embedding_loss",
    "cosine_embedding_loss",
    "margin_ranking_loss",
)


class LossCall:
    """One call of a loss function by the names of its parameters; whatever is set here is used."""

    def __init__(self, name: str, given: dict[str, Any]) -> None:
        self.name = name
        self.given = given
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


def touch_losses(training: Training, patches: Patches) -> list[Callable[[], object]]:
    busy: list[str] = []

    def touch(name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        def touched(original: Callable[..., Any]) -> Callable[..., Any]:
            names = tuple(inspect.signature(original).parameters)

            def loss(*args: Any, **kwargs: Any) -> Any:
                # Some loss functions are written by means of others.
                if training.aside or busy or torch.compiler.is_compiling() or out_of_reach():
                    return original(*args, **kwargs)
                call = LossCall(name, dict(zip(names, args, strict=False)) | kwargs)
                busy.append(name)
                try:
                    if isinstance(call.input, torch.Tensor) and isinstance(call.target, torch.Tensor):
                        training.tell("loss_call", call)
                    return original(**call.given)
                finally:
                    busy.pop()

            return loss

        return touched

    for name in NAMES:
        patches.replace(functional, name, touch(name))
    return []
