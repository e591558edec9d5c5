"""Steps that no torch optimizer takes: weights updated by hand, or by an optimizer of another library.

A backward call counts as a step at once, and is checked again when the next one begins: it was one only if
a parameter has changed since. Where none has (gradients are accumulated, or were wanted for something else)
its number is given back, and steps are counted where the parameters change.

Nothing of the model is held: torch will not swap a parameter that somebody else holds. What is compared are
versions and addresses of the parameters, found again in each graph; copies of values only until these have
been seen to show a change (`p.data.add_` leaves both as they are).
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

import torch

from traindx.observe.torch.graph import LIMIT, inputs, is_leaf, variable
from traindx.observe.torch.roots import HandUpdate

if TYPE_CHECKING:
    from traindx.observe.torch.steps import Steps

# The parameters nearest to the loss, once one of them was seen to change.
_NEAREST = 8
_VALUES = 4096
# Where a torch optimizer was made it may still take its first step: an inner loop can come before.
_SURELY = 8

# A step against the gradient and nothing else: its rate can be told from what it changed.
_AGAINST = -0.999
_DIGITS = 4

_WHY = "no torch optimizer steps: a step is counted where parameters change after backward"
# Others may be spread over processes: to read them is for all of these together.
_PLAIN = (torch.Tensor, torch.nn.Parameter)
Numbers = tuple[int, int]


class ByHand:
    """Asked at the beginning and the end of each backward call as long as no torch optimizer has stepped."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        # Whether parameters of modules are trained so: gradients of other tensors are no step then.
        self.modules = False
        # Backward calls that make a step; 0: it is seen only when the next one begins.
        self._calls_per_step = 1
        self._calls = self._late = 0
        self._counted = False
        self._updates = 0
        self._leaf_limit = LIMIT
        self._numbers: dict[int, Numbers] | None = None
        self._values: dict[int, torch.Tensor] | None = {}
        # Of a sampled step: what stands for its optimizer, what backward was called on, and whether its
        # gradients were read and the change that it makes is still to be seen.
        self._update = HandUpdate()
        self._backward_args: tuple[Any, ...] = ()
        self.awaits_update = False
        self._described = False

    @property
    def _on(self) -> bool:
        """Whether steps are counted here: at once where no torch optimizer was made, else when it is sure."""
        return not self.steps.built or (self._updates >= _SURELY and not self.steps.watching.compiled)

    def begins(self, backward_args: tuple[Any, ...]) -> None:
        """A backward call begins, on `called[0]`: what became of the one before."""
        nearest = _NEAREST if self.steps.built else self._leaf_limit
        sampling, awaits = self.steps.watching.sampling and self._on, self.awaits_update
        every = _leaves(backward_args, LIMIT if sampling or awaits else nearest)
        leaves = every[:nearest]
        changed = self._changed(leaves)
        if awaits:
            self.steps.watching.guard("layers", self._sample_update, every, changed)
        if sampling:
            self._backward_args = backward_args
            self.steps.watching.guard("stale gradients", self._stale_gradients, every, changed)
        if changed:
            if self._on and self._calls and not self._counted:
                self._finish()
            self._calls, self._counted = 0, False
        elif self._on:
            self._not_yet(leaves)

    def ends(self) -> bool:
        """A backward call has ended: whether a step ends with it."""
        self._calls += 1
        if not self._on or self._calls != self._calls_per_step:
            return False
        self.steps.recorder.unseen("optimizer", _WHY)
        self._counted = True
        return True

    @property
    def sampled(self) -> bool:
        """Whether the backward call that is under way is to be looked at."""
        return bool(self._backward_args)

    def sample_gradients(self, result: Any) -> None:
        """After backward, before the weights change; `found`: the gradients where they are returned."""
        backward_args, self._backward_args = self._backward_args, ()
        if result is False:
            return
        watching, update = self.steps.watching, self._update
        leaves = _leaves(backward_args, LIMIT)
        grad_inputs = (
            backward_args[4] if result is not True and isinstance(backward_args[4], tuple | list) else ()
        )
        gradients = (
            {id(tensor): gradient for tensor, gradient in zip(grad_inputs, result, strict=False)}
            if grad_inputs
            else {}
        )
        update.hold(leaves)
        returned_gradients = [gradients.get(id(leaf)) for leaf in leaves] if grad_inputs else None
        watching.sampler.layers.before(update, True, returned_gradients=returned_gradients)
        if not self._described:
            self._described = True
            watching.guard("facts", watching.facts.without_optimizer, update)
        norm = watching.sampler.layers.gradient_norm(update)
        update.hold([])
        if norm is not None:
            self.steps.saw_norm(norm)
        self.awaits_update = True

    def _sample_update(self, leaves: list[torch.Tensor], changed: bool) -> None:
        """The next backward call begins: what the step before has made of the weights."""
        self.awaits_update = False
        sampler, layers = self.steps.watching.sampler, self.steps.watching.sampler.layers
        if not changed:
            layers.forget()
            sampler.drop_held()
            return
        self._update.hold(leaves)
        layers.after(self._update, False)
        self._update.hold([])
        if self._counted:
            sampler.write_held()
            self._record_rate()

    def _record_rate(self) -> None:
        """Of a step against the gradient, how many times as long it was: the learning rate."""
        along = self.steps.watching.sampler.layers.along
        if along is not None:
            cosine, times = along
            numbers = {"update_cosine": cosine}
            if cosine < _AGAINST:
                numbers["lr"] = float(f"{-times:.{_DIGITS}g}")
            self.steps.recorder.row(numbers)

    def _stale_gradients(self, leaves: list[torch.Tensor], changed: bool) -> None:
        if changed and self._calls and self.steps.accumulates:
            self.steps.watching.losses.stale_gradients(leaves)

    def close(self) -> None:
        """The training is over: its last backward calls are a step if as many were one before."""
        if self._counted:
            self.steps.watching.guard("layers", self.steps.watching.sampler.write_held)
        if (
            self._on
            and not self._counted
            and self._calls
            and self._calls in (self._calls_per_step, self._late)
        ):
            self.steps.finish_late()

    def _finish(self) -> None:
        """The parameters have changed since backward calls that were not counted."""
        if self.steps.built and self._updates == _SURELY:
            # It is sure now: those before were steps, too.
            self.steps.recorder.step += _SURELY - 1
            self.steps.keep_losses(1)
            self._calls = 1
        # An update that came early once (the rest of an epoch) is no new habit.
        if self._calls > self._calls_per_step or self._calls == self._late:
            self._calls_per_step = self._calls
        self._late = self._calls
        self.steps.recorder.unseen("optimizer", _WHY)
        self.steps.finish_late()

    def _not_yet(self, leaves: list[torch.Tensor]) -> None:
        """No parameter has changed since the backward call before: it was no step, or a part of one."""
        if self._counted:
            self.steps.recorder.take_back()
            self._counted, self._calls_per_step = False, 0
        if self.steps.accumulates and all(_is_reset(leaf.grad) for leaf in leaves):
            self.steps.keep_losses(0)

    def _changed(self, leaves: list[torch.Tensor]) -> bool:
        previous, self._numbers = self._numbers, {id(leaf): _numbers(leaf) for leaf in leaves}
        if previous is None or not self._numbers.keys() & previous.keys():
            # Other parameters: another model, or new tensors in the place of the old (`w = w - lr * g`).
            self._with_other_values(leaves)
            return True
        changed = [leaf for leaf in leaves if previous.get(id(leaf), ()) not in ((), _numbers(leaf))]
        if changed:
            self._values = None
            if any(leaf is changed_leaf for leaf in leaves[:_NEAREST] for changed_leaf in changed):
                self._leaf_limit = _NEAREST
        else:
            changed = self._with_other_values(leaves)
        self.modules |= any(isinstance(leaf, torch.nn.Parameter) for leaf in changed)
        self._updates += bool(changed and self._calls)
        return bool(changed)

    def _with_other_values(self, leaves: list[torch.Tensor]) -> list[torch.Tensor]:
        """Those of the nearest, and of the last, whose values are not what they were."""
        previous = self._values
        if previous is None:
            return []
        end_leaves = [leaf for leaf in leaves[:_NEAREST] + leaves[-_NEAREST:] if type(leaf) in _PLAIN]
        current = self._values = {
            id(leaf): leaf.detach().reshape(-1)[:_VALUES].clone() for leaf in end_leaves
        }
        return [
            leaf
            for leaf in end_leaves
            if (k := id(leaf)) in previous and not torch.equal(previous[k], current[k])
        ]


def _leaves(backward_args: tuple[Any, ...], limit: int) -> list[torch.Tensor]:
    """What gradients are computed of: what the call names, else the parameters, nearest to the loss first.

    Other leaves of the graph, such as inputs whose gradient is wanted, come after them.
    """
    listed = backward_args[0] if isinstance(backward_args[0], tuple | list) else (backward_args[0],)
    grad_inputs = (
        backward_args[4] if len(backward_args) > 4 and isinstance(backward_args[4], tuple | list) else ()
    )
    if grad_inputs:
        return [tensor for tensor in grad_inputs if isinstance(tensor, torch.Tensor) and tensor.is_leaf][
            :limit
        ]
    roots = [tensor for tensor in listed if isinstance(tensor, torch.Tensor)]
    leaves = [root for root in roots if root.grad_fn is None]
    waiting = deque(root.grad_fn for root in roots if root.grad_fn is not None)
    visited = set(waiting)
    while waiting and len(leaves) < limit and len(visited) < LIMIT:
        for source, _ in inputs(waiting.popleft()):
            if source in visited:
                continue
            visited.add(source)
            leaf = variable(source) if is_leaf(source) else None
            if leaf is None:
                waiting.append(source)
            else:
                leaves.append(leaf)
    return sorted(leaves, key=lambda leaf: not isinstance(leaf, torch.nn.Parameter))


def _numbers(leaf: torch.Tensor) -> Numbers:
    """What most changes change: `p -= x` the version, `p.data = x` the address."""
    return leaf._version, leaf.data_ptr() if type(leaf) in _PLAIN else 0


def _is_reset(gradient: torch.Tensor | None) -> bool:
    return gradient is None or (not gradient.is_sparse and not bool(gradient.any()))
