"""Calls of torch's loss functions, and how they relate to what `backward` is called on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import torch

from traindx.observe.torch.gradient_norms import global_norm
from traindx.observe.torch.roots import optimizer_parameters
from traindx.observe.torch.scalars import in_transform, scalar
from traindx.observe.torch.written_losses import written_losses

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

# The relation is learned from the first steps, and checked on those that are sampled.
_LEARNED_FROM = 8
_CLOSE = 1e-3
_ABOUT = 0.1
_WEIGHTS_MOST = 64
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


class LossCalls:
    """Loss values since the last backward."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.recorder = watching.recorder
        self.sums_parts = False
        self.per_step = 1
        # Whether backward was called on what the loss function gave, up to a constant; None: not known yet.
        self.is_whole: bool | None = None
        # Whether what a sum is divided by before backward is about the number of its targets.
        self.divides_sums = False
        # Rows of the largest batch that was trained on.
        self.batch = 0
        self._computed: list[torch.Tensor] = []
        self._summed = False
        self._stale_reported = False

    def saw(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: torch.Tensor) -> None:
        """One of torch's loss functions was called."""
        watching = self.watching
        output = args[0] if args else kwargs.get("input")
        if not isinstance(output, torch.Tensor) or in_transform(result):
            return
        target = args[1] if len(args) > 1 else kwargs.get("target")
        if not result.requires_grad or watching.modes.training() is False:
            summed = (
                target.numel() if isinstance(target, torch.Tensor) and self._sums(name, args, kwargs) else 0
            )
            watching.validation.saw(name, output, result, summed)
            if not result.requires_grad:
                return
        if self.recorder.step >= _LEARNED_FROM and not watching.sampling:
            if watching.sampler.answers.due(name) and isinstance(target, torch.Tensor):
                pair = as_given(output), as_given(target)
                watching.guard("batches", watching.sampler.answers.take, name, *pair)
            return
        self._computed.append(result.detach())
        self.batch = max(self.batch, output.shape[0] if output.dim() else 0)
        self._summed = self._sums(name, args, kwargs)
        if isinstance(target, torch.Tensor):
            watching.facts.loss(
                name, output, target, reduction(name, args, kwargs), class_options(name, args, kwargs)
            )
            if watching.sampling:
                watching.guard("batches", watching.sampler.saw_loss, name, as_given(output), as_given(target))

    def backward_called(self, loss: float | torch.Tensor) -> None:
        """Whether backward was called on one of the computed losses, on their sum, or on a share of it."""
        computed, self._computed = self._computed, []
        self.watching.sampler.evaluations.drop()
        if self.watching.sampling and self.watching.steps.backwards == 1:
            self.watching.guard("written losses", self._note_written_losses)
            self.watching.guard("lookahead", self.watching.sampler.read_graph, self.watching.steps.grad_fn)
            self.watching.sampler.finish_forward()
            self.watching.guard("stale gradients", self._stale_gradients)
        if not computed or not isinstance(loss, float) or not loss or not math.isfinite(loss):
            return
        self.per_step = len(computed)
        values = [scalar(result) for result in computed]
        total = sum(value for value in values if isinstance(value, float))
        if not total or not math.isfinite(total):
            return
        ratio = loss / total
        self.watching.steps.accumulation.share = ratio if len(values) == 1 else None
        if self.watching.sampling:
            self.watching.sampler.saw_share(ratio)
        self.is_whole = abs(ratio - 1) < _ABOUT
        if abs(ratio - 1) < _CLOSE:
            self.sums_parts |= len(values) > 1
            self.watching.steps.loss_share = 1.0
        elif len(values) == 1 and 0 < ratio <= 0.75 and abs(1 / ratio - round(1 / ratio)) < 1e-2:
            self.watching.steps.loss_share = ratio
            self.is_whole = True
            self.divides_sums = self._summed

    def _note_written_losses(self) -> None:
        """Losses that the program wrote by hand are seen in the graph that backward is about to walk."""
        outputs = self.watching.sampler.activations.outputs
        for loss in written_losses(self.watching.steps.grad_fn, outputs):
            self.watching.facts.loss(loss.function, loss.output, loss.target, reduction=None)
            self.watching.sampler.saw_loss(loss.function, loss.output, loss.target)

    def _sums(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        return reduction(name, args, kwargs) == "sum"

    def _stale_gradients(self) -> None:
        """Whether the first backward of a step finds gradients that the step before already used."""
        optimizer = self.watching.lead() if self.watching.steps.accumulates else None
        if (
            self._stale_reported
            or optimizer is None
            or not self.recorder.step
            or self.watching.constructed.count() > 1
        ):
            return
        self.stale_gradients(optimizer_parameters(optimizer))

    def stale_gradients(self, parameters: list[torch.Tensor]) -> None:
        """The gradients there are now were used by the step before."""
        value = None if self._stale_reported else scalar(global_norm(parameters))
        if isinstance(value, float) and value > 0:
            self._stale_reported = True
            text = f"gradients of norm {value:.4g} from the step before were still there when backward began"
            self.recorder.event("stale_gradients", text, {"norm": value})


def reduction(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """How the loss was reduced, from the arguments of the compiled function."""
    place = _PLACE.get(name, 2)
    value = kwargs.get("reduction", args[place] if len(args) > place else 1)
    return _REDUCTIONS.get(value, str(value)) if isinstance(value, int) else str(value)


def class_options(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, object]:
    """Of a loss over classes: the weights of the classes, if they have any, and the class that is passed
    over."""
    if name not in ("cross_entropy", "nll_loss"):
        return {}
    weight = kwargs.get("weight", args[2] if len(args) > 2 else None)
    ignored = kwargs.get("ignore_index", args[4] if len(args) > 4 else -100)
    options: dict[str, object] = {"weighted": weight is not None, "ignored": ignored}
    if isinstance(weight, torch.Tensor) and not weight.is_meta and weight.numel() <= _WEIGHTS_MOST:
        options["class_weights"] = [round(float(number), 6) for number in weight.detach().cpu().reshape(-1)]
    return options


def as_given(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor before it was stretched: torch broadcasts output and target to one shape first."""
    if 0 not in tensor.stride():
        return tensor
    sizes = zip(tensor.stride(), tensor.shape, strict=True)
    return tensor[tuple(slice(0, 1) if stride == 0 and size > 1 else slice(None) for stride, size in sizes)]
