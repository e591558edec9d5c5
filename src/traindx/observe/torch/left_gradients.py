"""Gradients that an optimizer has used and nobody clears, where several optimizers share the work.

What one of them leaves behind may be cleared long after its step: a generator's backward adds to the
gradients of the discriminator, whose own `zero_grad` comes right before its own backward. So a few numbers
of each optimizer's gradients are followed from one of its steps to the next: they are cleared if any
backward on the way began with them gone, zero, or changed by somebody. Only the first steps are followed,
and nothing of the model is held: torch will not swap a parameter that somebody else holds.
"""

from __future__ import annotations

import math
import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from traindx.observe.torch.gradient_norms import global_norm
from traindx.observe.torch.optimizer_state import TrackedOptimizer
from traindx.observe.torch.roots import optimizer_parameters, parameter_ids
from traindx.observe.torch.scalars import scalar

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

# Steps in a row that say it for sure, steps and backward calls that are followed at most.
_SURELY, _STEPS, _LOOKS = 3, 8, 96
_OPTIMIZERS = 8
_MARKS, _CANDIDATES = 2, 8


@dataclass
class _Mark:
    """One number of one gradient: where it is, and what it was."""

    place: int
    element: int
    value: float
    address: int
    version: int = -1


class _Followed:
    """One optimizer, from the end of each of its first steps to the end of the next."""

    def __init__(self, optimizer: torch.optim.Optimizer, name: str) -> None:
        self.ref = weakref.ref(optimizer)
        self.name = name
        self.marks: list[_Mark] = []
        self.steps = self.cleared = self.left = self.looks = 0
        self.norm: float | None = None
        self.handled = self.added = self.looked = False

    def begin(self, optimizer: torch.optim.Optimizer, elsewhere: set[int]) -> None:
        """A step has ended: what is to be followed until the next one."""
        self.marks = _marks(optimizer_parameters(optimizer), elsewhere)
        self.handled = self.added = self.looked = False

    def backward_begins(self) -> None:
        """Whether what was left by the step is still there, as it was."""
        optimizer = self.ref()
        if optimizer is None or not self.marks or self.handled:
            return
        self.looks += 1
        for mark, gradient in _gradients(optimizer, self.marks):
            # Another number was put in its place, or the old one scaled: somebody takes care of it.
            known = gradient is not None and gradient.data_ptr() == mark.address and mark.value != 0
            if gradient is None or not known or _value(gradient, mark.element) != mark.value:
                self.handled = True
                return
            mark.version = gradient._version
        if self.left == _SURELY - 1 and not self.looked:
            norm = scalar(global_norm(optimizer_parameters(optimizer)))
            self.norm = norm if isinstance(norm, float) and math.isfinite(norm) else None
        self.looked = True

    def backward_ends(self) -> None:
        """Whether it has added to what was left."""
        optimizer = self.ref()
        if optimizer is None or not self.looked or self.handled:
            return
        for mark, gradient in _gradients(optimizer, self.marks):
            if gradient is None:
                self.handled = True
            elif gradient._version != mark.version or gradient.data_ptr() != mark.address:
                # With `create_graph` the sum is a new tensor.
                self.added, mark.address = True, gradient.data_ptr()
                mark.value = _value(gradient, mark.element)

    def step_ends(self, optimizer: torch.optim.Optimizer) -> None:
        """Whether this step took what the one before had left."""
        if not self.marks:
            return
        self.steps += 1
        for mark, gradient in _gradients(optimizer, self.marks):
            self.handled |= gradient is None or gradient.data_ptr() != mark.address
        if self.handled:
            self.cleared += 1
            self.left = 0
        elif self.added:
            self.left += 1

    @property
    def done(self) -> bool:
        return max(self.cleared, self.left) >= _SURELY or self.steps >= _STEPS or self.looks > _LOOKS


class LeftGradients:
    """Asked at the beginning and the end of each backward while `following`, and after each step."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.following: list[_Followed] = []
        self._done: list[_Followed] = []

    def due(self) -> bool:
        """Whether a step is to be looked at: not where one optimizer does all the work."""
        return self.watching.constructed.count() > 1

    def restart(self) -> None:
        """Another training begins."""
        self._done = []

    def backward_begins(self) -> None:
        """Before the gradients change."""
        for followed in self.following:
            followed.backward_begins()

    def backward_ends(self) -> None:
        """Once they have."""
        for followed in self.following:
            followed.backward_ends()

    def step_ends(self, optimizer: torch.optim.Optimizer, entry: TrackedOptimizer) -> None:
        """The gradients that a step has used are still there."""
        followed = next((one for one in self.following if one.ref() is optimizer), None)
        if followed is None:
            self.following = [one for one in self.following if one.ref() is not None]
            # Where optimizers step inside backward, each mostly has one parameter and clears it at once.
            if self.watching.steps.depth or len(self.following) + len(self._done) >= _OPTIMIZERS:
                entry.clearing_known = True
                return
            followed = _Followed(optimizer, entry.name)
            self.following.append(followed)
        followed.step_ends(optimizer)
        if followed.done:
            entry.clearing_known = True
            self.following.remove(followed)
            self._done.append(followed)
            self._record(followed)
            return
        others = (other for other in self.watching.constructed.alive() if other is not optimizer)
        followed.begin(optimizer, parameter_ids(*others))

    def _record(self, followed: _Followed) -> None:
        recorder = self.watching.recorder
        fact = [{"optimizer": one.name, "cleared": one.cleared, "left": one.left} for one in self._done]
        recorder.fact("gradients_cleared", fact)
        if followed.left >= _SURELY:
            size = f" of norm {followed.norm:.4g}" if followed.norm is not None else ""
            text = (
                f"gradients of {followed.name}{size} from the step before were still there at every backward"
            )
            data: dict[str, object] = {"optimizer": followed.name, "steps": followed.left}
            recorder.event(
                "stale_gradients", text, data | ({"norm": followed.norm} if followed.norm is not None else {})
            )


def _marks(parameters: list[torch.Tensor], elsewhere: set[int]) -> list[_Mark]:
    """The largest numbers of some gradients: of parameters that no other optimizer holds, of small ones."""
    usable = [
        (id(parameter) in elsewhere, gradient.numel(), place)
        for place, parameter in enumerate(parameters)
        if parameter.requires_grad and (gradient := _plain(parameter.grad)) is not None
    ]
    marks: list[_Mark] = []
    for _, _, place in sorted(usable)[:_CANDIDATES]:
        gradient = parameters[place].grad
        assert gradient is not None
        numbers = gradient.detach().reshape(-1)
        element = int(numbers.abs().argmax())
        value = float(numbers[element])
        if value and math.isfinite(value):
            marks.append(_Mark(place, element, value, gradient.data_ptr()))
        if len(marks) == _MARKS:
            break
    return marks


def _gradients(
    optimizer: torch.optim.Optimizer, marks: list[_Mark]
) -> Iterator[tuple[_Mark, torch.Tensor | None]]:
    """The gradients that are followed, as they are now; None where there is none."""
    parameters = optimizer_parameters(optimizer)
    for mark in marks:
        gradient = _plain(parameters[mark.place].grad) if mark.place < len(parameters) else None
        yield mark, gradient if gradient is not None and mark.element < gradient.numel() else None


def _plain(gradient: torch.Tensor | None) -> torch.Tensor | None:
    """A gradient whose numbers can be read one by one."""
    if type(gradient) is not torch.Tensor or gradient.layout is not torch.strided or gradient.is_meta:
        return None
    return gradient if gradient.is_floating_point() and gradient.numel() else None


def _value(gradient: torch.Tensor, element: int) -> float:
    return float(gradient.detach().reshape(-1)[element])
