"""Loss functions of torch, observed where they reach its compiled code.

The Python functions around it (`F.mse_loss`, `nn.MSELoss`) stay untouched, so that their warnings still
name the user's line.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

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
_IN_TORCH = {
    "binary_cross_entropy_with_logits": "binary_cross_entropy_with_logits",
    "kl_div": "kl_div",
    "ctc_loss": "ctc_loss",
    "poisson_nll_loss": "poisson_nll_loss",
    "hinge_embedding_loss": "hinge_embedding_loss",
    "cosine_embedding_loss": "cosine_embedding_loss",
    "margin_ranking_loss": "margin_ranking_loss",
    "triplet_margin_loss": "triplet_margin_loss",
}
_REDUCTIONS = {0: "none", 1: "mean", 2: "sum"}
# Where the reduction stands among the arguments of the compiled functions.
_PLACE = {
    "cross_entropy": 3,
    "nll_loss": 3,
    "binary_cross_entropy": 3,
    "binary_cross_entropy_with_logits": 4,
    "multi_margin_loss": 5,
    "ctc_loss": 5,
    "poisson_nll_loss": 5,
    "hinge_embedding_loss": 3,
    "cosine_embedding_loss": 4,
    "margin_ranking_loss": 4,
    "triplet_margin_loss": 7,
}


def watch_losses(watching: Watching) -> None:
    """Each of torch's own loss functions tells what it was given and what it gave."""
    for owner, table in ((torch._C._nn, _IN_NN), (torch, _IN_TORCH)):
        for inside, name in table.items():
            watching.patches.replace(owner, inside, _observer(watching, name))


def _observer(watching: Watching, name: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    quick = watching.steps.quick

    def made(original: Callable[..., Any]) -> Callable[..., Any]:
        def observed(*args: Any, **kwargs: Any) -> Any:
            result = original(*args, **kwargs)
            if quick.on and quick.loss_computed(name, result):
                return result
            if (
                watching.active
                and type(result) is torch.Tensor
                and not watching.steps.depth
                and not torch.compiler.is_compiling()
            ):
                watching.guard("losses", watching.losses.saw, name, args, kwargs, result)
            return result

        return observed

    return made


def reduction(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """How the loss was reduced, from the arguments of the compiled function."""
    place = _PLACE.get(name, 2)
    value = kwargs.get("reduction", args[place] if len(args) > place else 1)
    return _REDUCTIONS.get(value, str(value)) if isinstance(value, int) else str(value)


def as_given(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor before it was stretched: torch broadcasts output and target to one shape first."""
    if 0 not in tensor.stride():
        return tensor
    sizes = zip(tensor.stride(), tensor.shape, strict=True)
    return tensor[tuple(slice(0, 1) if stride == 0 and size > 1 else slice(None) for stride, size in sizes)]
