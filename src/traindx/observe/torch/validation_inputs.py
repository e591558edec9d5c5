"""The inputs of a model in validation, of a few batches.

One global hook waits for the next calls of the model without gradients, and is gone with them.
"""

from __future__ import annotations

import weakref
from threading import get_ident
from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn.modules import module as calls

from traindx.observe.torch.module_tensors import model_input, out_of_reach
from traindx.observe.torch.roots import is_trained_by

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_KEY = -9
# Who judges on training and validation data may call the model on both before either loss.
_AT_ONCE = 4


class Evaluations:
    """What is caught counts when a loader gave it, or once a loss without gradients follows."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self._caught: list[torch.Tensor] = []
        self._loaded = False
        self._model_called = False
        self.of_another = False
        self._waiting_for: weakref.ref[nn.Module] | None = None
        self._alone = False

    def wait(self, *, loaded: bool = False) -> None:
        """Validation continues, a batch was `loaded` for it: the next call may be sampled."""
        self._loaded = loaded
        watching = self.watching
        if _KEY in calls._global_forward_pre_hooks or not watching.recorder.internals:
            return
        if watching.compiled or watching.names.compiled or not watching.sampler.samples.validates:
            return
        self._model_called = False
        calls._global_forward_pre_hooks[_KEY] = self._before_call

    def judged(self) -> None:
        """A loss without gradients was computed: what was caught is a batch of validation."""
        caught, self._caught = self._caught, []
        for inputs in caught:
            self.watching.sampler.samples.evaluated(inputs)
        self.wait()

    def drop(self) -> None:
        """Training continues."""
        self._caught = []
        self._leave_module()

    def stop(self) -> None:
        self._caught = []
        self._leave_module()
        calls._global_forward_pre_hooks.pop(_KEY, None)

    def _before_call(self, module: nn.Module, args: Any) -> None:
        if torch.compiler.is_compiling():
            return
        watching = self.watching
        if watching.compiled or not watching.active:
            self.stop()
        if (
            torch.is_grad_enabled()
            or not watching.active
            or get_ident() != watching.steps.thread
            or out_of_reach()
        ):
            return
        watching.guard("evaluations", self._take, module, args)

    def _take(self, module: nn.Module, args: Any) -> None:
        if not self._is_asked(module):
            self.of_another = self.of_another or self._is_another(module)
            return
        if self._is_finished(module):
            return
        self._model_called = True
        alone = self._loaded and not module.training
        if args:
            self._note(model_input(args, {}), alone)
        elif self._waiting_for is None:
            # A hook before the call does not get its keywords, one after it does.
            self._waiting_for, self._alone = weakref.ref(module), alone
            module._forward_hooks[_KEY] = self._after_call
            module._forward_hooks_with_kwargs[_KEY] = True

    def _after_call(self, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        del module, output
        self._leave_module()
        if not torch.compiler.is_compiling() and self.watching.active:
            self.watching.guard("evaluations", lambda: self._note(model_input(args, kwargs), self._alone))

    def _leave_module(self) -> None:
        module = self._waiting_for() if self._waiting_for is not None else None
        self._waiting_for = None
        if module is not None:
            module._forward_hooks.pop(_KEY, None)
            module._forward_hooks_with_kwargs.pop(_KEY, None)

    def _note(self, inputs: torch.Tensor | None, alone: bool) -> None:
        if inputs is None or alone or len(self._caught) + 1 >= _AT_ONCE:
            calls._global_forward_pre_hooks.pop(_KEY, None)
        if inputs is None:
            return
        if alone:
            self.watching.sampler.samples.evaluated(inputs.detach())
        else:
            self._caught.append(inputs.detach())

    def _is_asked(self, module: nn.Module) -> bool:
        """Whether it is a model, or the part of one that training calls first: a step may call the layers of
        its module one by one."""
        watching = self.watching
        if any(root is module for root in watching.names.roots):
            return True
        main = watching.sampler.activations.main
        return main is not None and watching.names.module_name(module) == main

    def _is_finished(self, module: nn.Module) -> bool:
        """A model of an earlier training that is only asked now, on training data: a teacher."""
        optimizer = self.watching.lead()
        if not self.watching.facts.phases or optimizer is None:
            return False
        return not is_trained_by(module, optimizer)

    def _is_another(self, module: nn.Module) -> bool:
        """An average of the weights, a teacher: its mode is not that of the model that trains.

        What the model calls itself is none, even where it hides its layers in a list; nor is a loss.
        """
        if self._model_called or next(module.parameters(), None) is None:
            return False
        return not any(part is module for root in self.watching.names.roots for part in root.modules())
