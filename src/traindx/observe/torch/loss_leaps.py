"""The batch behind a sudden jump of the loss: how large its inputs and targets are.

Only where the value of the loss is known at once, on the CPU. Costs a comparison in ordinary steps.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from math import inf
from typing import TYPE_CHECKING

import torch

from traindx.observe.clock import monotonic
from traindx.observe.torch.batch_columns import parts_of
from traindx.observe.torch.graph import is_leaf, moment, walk
from traindx.observe.torch.saved import Saved

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_RECENT, _ENOUGH = 32, 16
_FAR = 3.0
_MOST = 16
_SECONDS = 0.05


class LossLeaps:
    """`limit`: a loss above it is several times all of the last ones."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.limit = inf
        self._recent: deque[float] = deque(maxlen=_RECENT)
        self._events_left = _MOST if watching.recorder.internals else 0

    def passed(self, losses: Iterable[float]) -> None:
        """Losses as they came; of one that leapt no more than the limit."""
        self._recent.extend(losses)
        usual = self._events_left > 0 and len(self._recent) >= _ENOUGH and min(self._recent) > 0
        self.limit = _FAR * max(self._recent) if usual else inf

    def leaped(self, loss: float, tensor: torch.Tensor) -> None:
        """Backward is about to be called on a loss above the limit."""
        self._events_left -= 1
        parts = parts_of(self.watching.batch)
        if parts is not None:
            data = {"input_peak": _peak(parts.inputs), "target_peak": _peak(parts.target)}
        else:
            data = {"input_peak": _first_input(tensor)}
        recorder = self.watching.recorder
        peaks = {name: peak for name, peak in data.items() if peak is not None}
        text = (
            f"the loss leaps to {loss:.4g}; the last {len(self._recent)} were at most {max(self._recent):.4g}"
        )
        recorder.event("loss_leap", text, {"loss": loss, **peaks}, step=recorder.step + 1)


def _peak(tensor: torch.Tensor) -> float | None:
    """The largest size of its finite values; None for whole numbers."""
    if not tensor.is_floating_point() or not tensor.numel():
        return None
    sizes = tensor.detach().abs()
    return float(sizes.where(sizes.isfinite(), 0.0).max())


def _first_input(loss: torch.Tensor) -> float | None:
    """What the first operation of the forward pass was given without a gradient: mostly the model's input."""
    if loss.grad_fn is None:
        return None
    saved = Saved()
    nodes = [node for node in walk(loss.grad_fn, monotonic() + _SECONDS).nodes if not is_leaf(node)]
    for node in sorted(nodes, key=moment):
        for tensor in saved.read(node).values():
            if tensor.dim() and not tensor.requires_grad:
                return _peak(tensor)
    return None
