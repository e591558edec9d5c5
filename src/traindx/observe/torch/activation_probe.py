"""What flows through a model on the steps that are sampled: activations, inputs, modes, autocast.

From `arm` to `disarm` one global hook waits for a model to be called. While that model runs, and not
longer, hooks on its modules copy a small sample of what each gives; a model that is saved or copied
between its calls has none. All computing is left to `collect`.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.nn.modules import module as calls

from traindx.observe.signals import let_through
from traindx.observe.torch.blocks import STATISTICS
from traindx.observe.torch.kinds import has_modes
from traindx.observe.torch.module_probe import ModuleWatch, Window
from traindx.observe.torch.module_tensors import autocast_dtype, model_input, out_of_reach, real_outputs
from traindx.observe.torch.naming import Names

_KEYS = tuple(f"activation_{key}" for key in STATISTICS)
# The keys of our hooks: torch counts its own up from zero. Its functions to add and remove hooks take longer
# than the hooks, and leave traces where keywords are asked for.
_OURS, _ANYWHERE = -7, -8
_LEARNS, _LEARNS_AGAIN = 2, 32
_CALLS = 64
_GRADIENT_FREE_MOST = 8
_OUTPUTS = 16
_armed: ActivationProbe | None = None


def _enter(module: nn.Module, args: Any) -> None:
    del args
    if torch.compiler.is_compiling() or _armed is None:
        return
    if torch.is_grad_enabled():
        _armed.enter(module)
    elif _armed.gradient_free_calls < _GRADIENT_FREE_MOST:
        _armed.enter_without_gradients(module)


def _inside(module: nn.Module, args: Any, output: Any) -> None:
    if torch.compiler.is_compiling() or _armed is None:
        return
    _armed.inside(module, args, output)


def _leave(module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
    if torch.compiler.is_compiling() or _armed is None:
        return
    _armed.leave(module, args, kwargs, output)


class _Model:
    """A model that the script calls, and the modules of it that are watched."""

    def __init__(self, module: nn.Module) -> None:
        self.ref = weakref.ref(module)
        self.learned = 0
        self.turn = 0
        self.watches: list[ModuleWatch] = []
        self.with_modes = [weakref.ref(part) for part in module.modules() if has_modes(part)]


class ActivationProbe:
    """Samples forward passes between `arm` and `disarm`; `collect` gives the statistics."""

    def __init__(self, names: Names) -> None:
        self.names: list[str] = []
        self.root_input: torch.Tensor | None = None
        # What the models of this sample gave, with their graphs: until backward is called, no longer.
        self.outputs: list[torch.Tensor] = []
        self.eval_modules: list[str] = []
        self.autocast: str | None = None
        self._module_names = names
        self._index: dict[str, int] = {}
        self._window = Window()
        self._watches: dict[int, ModuleWatch] = {}
        self._models: dict[int, _Model] = {}
        self._hooked: list[nn.Module] = []
        self._model: _Model | None = None
        self._model_calls: list[tuple[_Model, torch.Tensor | None]] = []
        self._calls = 0
        # The model whose inputs are measured: the first that a step calls.
        self.main: str | None = None
        self._evals: list[weakref.ref[nn.Module]] = []
        # Modules that were called without gradients, by the calls counted in this sample.
        self.gradient_free: list[weakref.ref[nn.Module]] = []
        self.gradient_free_calls = 0

    @property
    def saw_model(self) -> bool:
        """Whether a model was ever called on a sampled step."""
        return bool(self._models)

    def arm(self) -> None:
        """Sample the models that are called from now on; compiled ones warn of hooks, and are left alone."""
        global _armed
        self.disarm()
        if self._module_names.compiled:
            return
        window = self._window
        window.turn += 1
        window.thread = threading.get_ident()
        window.autocast = None
        self._calls, self._model_calls, self._evals = 0, [], []
        self.gradient_free_calls = 0
        _armed = self
        calls._global_forward_pre_hooks[_ANYWHERE] = _enter

    def disarm(self) -> None:
        global _armed
        self._withdraw()
        self.outputs = []
        calls._global_forward_pre_hooks.pop(_ANYWHERE, None)
        if _armed is self:
            _armed = None

    def enter(self, module: nn.Module) -> None:
        """A module is called while nothing else is: a model, or a loss."""
        if threading.get_ident() != self._window.thread or out_of_reach():
            return
        calls._global_forward_pre_hooks.pop(_ANYWHERE, None)
        try:
            self._follow(module)
        except Exception as error:
            self._fail(error)

    def enter_without_gradients(self, module: nn.Module) -> None:
        """A module is called without gradients: a target network, a teacher, or an evaluation."""
        self.gradient_free_calls += 1
        modules = [root for ref in self.gradient_free if (root := ref()) is not None]
        parts = (part for model in modules for part in model.modules())
        if len(modules) < _GRADIENT_FREE_MOST and not any(part is module for part in parts):
            self.gradient_free = [*map(weakref.ref, modules), weakref.ref(module)]

    def inside(self, module: nn.Module, args: Any, output: Any) -> None:
        """While learning: some module of the model gave an output."""
        model = self._model
        if model is None or threading.get_ident() != self._window.thread:
            return
        watch = self._watches.get(id(module))
        try:
            if watch is None or watch.ref() is not module:
                watch = self._watches[id(module)] = ModuleWatch(module, self._window)
                model.watches.append(watch)
            watch.sample_call(module, args, output)
        except Exception as error:
            self._fail(error)

    def leave(self, module: nn.Module, args: Any, kwargs: dict[str, Any], output: Any) -> None:
        """The model itself gave its output: its sample is complete."""
        model = self._model
        if model is None or model.ref() is not module or threading.get_ident() != self._window.thread:
            return
        try:
            watch = self._watches.get(id(module))
            if watch is not None:
                watch.sample_call(module, args, output)
            self._withdraw()
            self._note_call(model, module, args, kwargs)
            self.outputs += real_outputs(output)[: _OUTPUTS - len(self.outputs)]
        except Exception as error:
            self._fail(error)

    def collect(self) -> tuple[list[str], dict[str, list[float | None]]]:
        """Names, and for each statistic one value for each name; None is a gap."""
        window = self._window
        if window.error is not None:
            error, window.error = window.error, None
            raise error
        self._introduce()
        self.autocast = window.autocast
        statistics: dict[str, list[float | None]] = {key: [None] * len(self.names) for key in _KEYS}
        columns = list(statistics.values())
        any_filled = False
        with np.errstate(all="ignore"):
            for slot, numbers in window.shelf.measure(window.turn):
                any_filled = True
                for column, number in zip(columns, numbers, strict=True):
                    column[slot.index] = number
        return (self.names, statistics) if any_filled else ([], {})

    def samples(self, count: int, size: int) -> list[tuple[str, Any]]:
        """Of so many activations, evenly chosen, some of the values of the latest sample."""
        slots = sorted(self._window.shelf.latest(), key=lambda slot: slot.index)
        slots = [slot for slot in slots if 0 <= slot.index < len(self.names)]
        chosen = slots[:: -(-len(slots) // count)] if slots else []
        sampled = ((slot, slot.target.reshape(-1)) for slot in chosen)
        return [
            (self.names[slot.index], values[:: -(-len(values) // size)].float().cpu().numpy())
            for slot, values in sampled
            if len(values)
        ]

    def _follow(self, module: nn.Module) -> None:
        """Hook what is to be sampled inside this call; only what ends it when it was sampled before."""
        window = self._window
        model = self._models.get(id(module))
        if model is None or model.ref() is not module:
            if any(type(part).__name__ == "OptimizedModule" for part in module.modules()):
                self._module_names.compiled = True
                return
            self._clear_gone()
            model = self._models[id(module)] = _Model(module)
        self._model = model
        self._calls += 1
        again = model.turn == window.turn
        model.turn = window.turn
        window.learning = not again and (model.learned < _LEARNS or window.turn % _LEARNS_AGAIN == 0)
        self._hook(module, _leave)
        module._forward_hooks_with_kwargs[_OURS] = True
        if window.learning:
            model.learned += 1
            calls._global_forward_hooks[_ANYWHERE] = _inside
        elif not again:
            for number, watch in enumerate(model.watches):
                part = watch.ref() if watch.due(window.turn + number) else None
                if part is not None and part is not module:
                    self._hook(part, watch.sample_call)

    def _clear_gone(self) -> None:
        """Forget models that were deleted: a search may train hundreds in one process."""
        self._models = {key: model for key, model in self._models.items() if model.ref() is not None}
        for key, watch in list(self._watches.items()):
            if watch.ref() is None:
                del self._watches[key]
                for slot in watch.slots:
                    self._window.shelf.drop(slot)

    def _hook(self, module: nn.Module, hook: Any) -> None:
        module._forward_hooks[_OURS] = hook
        self._hooked.append(module)

    def _withdraw(self) -> None:
        """Leave no hook in the model."""
        calls._global_forward_hooks.pop(_ANYWHERE, None)
        for module in self._hooked:
            module._forward_hooks.pop(_OURS, None)
            module._forward_hooks_with_kwargs.pop(_OURS, None)
        self._hooked = []
        self._model = None
        self._window.forget()

    def _fail(self, error: Exception) -> None:
        self._withdraw()
        let_through(error)
        self._window.error = self._window.error or error

    def _note_call(self, model: _Model, module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
        """Note the inputs of a call of the model, and the modes of its modules."""
        inputs = model_input(args, kwargs)
        self._model_calls.append((model, None if inputs is None else inputs.detach()))
        if inputs is not None:
            self._window.autocast = self._window.autocast or autocast_dtype(inputs.device)
        if module.training:
            self._evals += [
                ref for ref in model.with_modes if (part := ref()) is not None and not part.training
            ]
        if self._calls < _CALLS and not self._module_names.alone(module):
            calls._global_forward_pre_hooks[_ANYWHERE] = _enter

    def given_shape(self) -> tuple[int, ...]:
        """The sizes of what a model was first called with in the sample that is being taken."""
        return next((tuple(inputs.shape) for _, inputs in self._model_calls if inputs is not None), ())

    def _introduce(self) -> None:
        """Names for what is new, and what the main model was called with: the first in the first sample."""
        module_names = self._module_names
        model_calls, self._model_calls = self._model_calls, []
        models = [(module, inputs) for model, inputs in model_calls if (module := model.ref()) is not None]
        new = [module for module, _ in models if module_names.module_name(module) is None]
        if new:
            module_names.saw(*new)
        for watch, slot, suffix in self._window.new:
            module = watch.ref()
            name = module_names.module_name(module) if module is not None else None
            slot.index = self._place((name or type(module).__name__) + suffix)
        self._window.new.clear()
        self.root_input = None
        for module, inputs in models:
            name = module_names.module_name(module)
            if inputs is not None and name is not None and self.main in (None, name):
                self.main, self.root_input = name, inputs
                break
        evals = [module for ref in self._evals if (module := ref()) is not None]
        self.eval_modules = [name for module in evals if (name := module_names.module_name(module))]

    def _place(self, name: str) -> int:
        if name not in self._index:
            self._index[name] = len(self.names)
            self.names.append(name)
        return self._index[name]
