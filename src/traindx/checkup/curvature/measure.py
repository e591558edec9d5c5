"""The curvature of a model's loss at its weights: sharpness, saddle or minimum, slices of the loss.

Nothing is written to the weights: a shifted model is called with shifted copies of them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from traindx.checkup.curvature.lanczos import lanczos, trace
from traindx.checkup.model.objects import LabelledBatch, loss_on
from traindx.checkup.model.passes import set_mode
from traindx.core.nouns import Unreadable

_BATCHES, _STEPS, _DRAWS = 2, 24, 6
_MEMORY = 400e6  # bytes for the vectors of the iteration
_POINTS = 21
_SLOPE_SHARE, _NEGATIVE_SHARE, _FLAT = 0.01, 0.02, 1e-8
# Where the gradient is next to nothing, any negative curvature counts that lowers the loss by this share.
_STATIONARY, _FALL_SHARE = 1e-6, 0.01


class LossSurface:
    """The loss over a few batches as a function of all trainable weights in one vector."""

    def __init__(self, model: nn.Module, batches: Sequence[LabelledBatch], loss_fn: Any) -> None:
        self._model, self._batches, self._loss_fn = model, batches[:_BATCHES], loss_fn
        self._named = [
            (name, parameter) for name, parameter in model.named_parameters() if parameter.requires_grad
        ]
        self.size = sum(parameter.numel() for _, parameter in self._named)

    def loss(self, shift: torch.Tensor | None = None) -> float:
        with torch.no_grad():
            return float(self._value(self._shifted(shift)))

    def gradient(self) -> torch.Tensor:
        weights = self._leaves()
        return _flat(
            torch.autograd.grad(self._value(weights), list(weights.values()), allow_unused=True), weights
        )

    def product(self, vector: torch.Tensor) -> torch.Tensor:
        """The Hessian times a vector: the gradient of the gradient along it."""
        weights = self._leaves()
        tensors = list(weights.values())
        first = torch.autograd.grad(self._value(weights), tensors, create_graph=True, allow_unused=True)
        along = sum(
            (gradient * part).sum()
            for gradient, part in zip(first, self._parts(vector), strict=True)
            if gradient is not None
        )
        if not isinstance(along, torch.Tensor) or not along.requires_grad:
            return torch.zeros(self.size)
        return _flat(torch.autograd.grad(along, tensors, allow_unused=True), weights)

    def _value(self, weights: dict[str, torch.Tensor]) -> torch.Tensor:
        call: Callable[..., Any] = lambda *a, **k: torch.func.functional_call(self._model, weights, a, k)  # noqa: E731
        losses = [loss_on(call, batch, self._loss_fn)[1] for batch in self._batches]
        return torch.stack(losses).mean()

    def _leaves(self) -> dict[str, torch.Tensor]:
        return {name: parameter.detach().clone().requires_grad_(True) for name, parameter in self._named}

    def _shifted(self, shift: torch.Tensor | None) -> dict[str, torch.Tensor]:
        if shift is None:
            return {name: parameter.detach() for name, parameter in self._named}
        parts = self._parts(shift)
        return {
            name: parameter.detach() + part
            for (name, parameter), part in zip(self._named, parts, strict=True)
        }

    def _parts(self, vector: torch.Tensor) -> list[torch.Tensor]:
        sizes = [parameter.numel() for _, parameter in self._named]
        pieces = torch.split(vector, sizes)
        return [
            part.reshape(parameter.shape).to(parameter.device, parameter.dtype)
            for part, (_, parameter) in zip(pieces, self._named, strict=True)
        ]


def _flat(gradients: Sequence[torch.Tensor | None], weights: dict[str, torch.Tensor]) -> torch.Tensor:
    parts = [
        (torch.zeros_like(weight) if gradient is None else gradient.detach()).reshape(-1)
        for gradient, weight in zip(gradients, weights.values(), strict=True)
    ]
    return torch.cat(parts).float().cpu()


def _steps(parameters: int) -> int:
    return int(min(_STEPS, max(5, _MEMORY // (4 * max(1, parameters)))))


def curvature(
    model: nn.Module, batches: Sequence[LabelledBatch], loss_fn: Any, *, lr: float | None = None
) -> dict[str, Any]:
    """Ends of the spectrum, trace, what kind of point it is, and how far negative curvature leads down."""
    from torch.nn.attention import SDPBackend, sdpa_kernel

    set_mode(model, training=False)
    surface = LossSurface(model, batches, loss_fn)
    if not surface.size:
        raise Unreadable("the model has no trainable parameter: there is no curvature to measure")
    try:
        with sdpa_kernel(SDPBackend.MATH):
            return _measured(surface, lr)
    except RuntimeError as error:
        line = " ".join(str(error).split())[:160]
        raise Unreadable(f"the curvature cannot be measured: {line}") from None


def _measured(surface: LossSurface, lr: float | None) -> dict[str, Any]:
    base, gradient = surface.loss(), surface.gradient()
    spectrum = lanczos(surface.product, surface.size, _steps(surface.size))
    total, error = trace(surface.product, surface.size, _DRAWS)
    norm = float(gradient.norm())
    promised = norm * norm / (2 * max(abs(spectrum.largest), 1e-30))
    down = _descent(surface, spectrum.vectors[1], base, spectrum.smallest)
    kind = kind_of_point(
        base, promised, spectrum.largest, spectrum.smallest, spectrum.errors[1], base - down[1]
    )
    return {
        "loss": base,
        "gradient_norm": norm,
        "largest": spectrum.largest,
        "largest_error": spectrum.errors[0],
        "smallest": spectrum.smallest,
        "smallest_error": spectrum.errors[1],
        "trace": total,
        "trace_error": error,
        "kind": kind,
        "step_along_negative": down[0],
        "loss_along_negative": down[1],
        "stable_lr": 2.0 / spectrum.largest if spectrum.largest > 0 else None,
        "lr": lr,
        "products": spectrum.steps + _DRAWS,
        "slices": [
            {"direction": name, **_slice(surface, vector, value, base)}
            for name, vector, value in (
                ("largest curvature", spectrum.vectors[0], spectrum.largest),
                ("smallest curvature", spectrum.vectors[1], spectrum.smallest),
            )
        ],
    }


def kind_of_point(
    loss: float, promised: float, largest: float, smallest: float, error: float, fall: float = 0.0
) -> str:
    """`slope` where the gradient still leads down, else `saddle`, `flat` or `minimum`.

    `promised` is how much a step along the gradient lowers the loss, `fall` how much one along the smallest
    curvature does.
    """
    if max(abs(largest), abs(smallest)) <= _FLAT:
        return "slope" if promised > _SLOPE_SHARE * abs(loss) and largest > 1e-20 else "flat"
    if promised > _SLOPE_SHARE * abs(loss):
        return "slope"
    stationary = promised <= _STATIONARY * abs(loss) and fall >= _FALL_SHARE * abs(loss) > 0
    least = 0.0 if stationary else _NEGATIVE_SHARE * abs(largest)
    return "saddle" if smallest < -max(2 * error, least) else "minimum"


def _descent(surface: LossSurface, vector: torch.Tensor, base: float, value: float) -> tuple[float, float]:
    """The step along a direction, either way, that lowers the loss most."""
    best = (0.0, base)
    if value >= 0:
        return best
    for size in (2.0 ** (at / 2) * 0.01 for at in range(28)):
        for step in (size, -size):
            loss = surface.loss(step * vector)
            if math.isfinite(loss) and loss < best[1]:
                best = (step, loss)
    return best


def _slice(surface: LossSurface, vector: torch.Tensor, value: float, base: float) -> dict[str, list[float]]:
    """The loss along a direction, as far as its curvature changes it by about half of itself."""
    reach = math.sqrt(max(abs(base), 1e-6) / max(abs(value), 1e-6))
    places = [reach * (2 * at / (_POINTS - 1) - 1) for at in range(_POINTS)]
    return {"at": places, "loss": [surface.loss(place * vector) for place in places]}
