"""One module under watch: what is sampled in it when it is called."""

from __future__ import annotations

import threading
import weakref
from typing import Any

import torch
from torch import nn

from traindx.core.kinds import LayerShape
from traindx.observe.signals import let_through
from traindx.observe.torch.blocks import Shelf
from traindx.observe.torch.kinds import (
    activation_shape,
    channels_first,
    is_dropout,
    is_layer,
    is_norm,
    shape_behind,
)
from traindx.observe.torch.module_tensors import autocast_dtype, first_float, out_of_reach
from traindx.observe.torch.slots import SampleSlot

_LAYERS_EVERY = 4


class Window:
    """One sample of a forward pass, from the call of a model to its return."""

    def __init__(self) -> None:
        self.turn = 0
        self.thread = 0
        self.learning = True
        self.error: Exception | None = None
        self.autocast: str | None = None
        self.shelf = Shelf()
        self.new: list[tuple[ModuleWatch, SampleSlot, str]] = []
        # While learning: the functions behind outputs seen so far, the layout of the last layer, its output.
        self.nodes: dict[int, Any] = {}
        self.layout: tuple[int, bool | None] = (0, None)
        self.last: tuple[ModuleWatch, int] | None = None

    def forget(self) -> None:
        self.nodes = {}
        self.last = None


class ModuleWatch:
    """What is sampled in one module: its output, and its input where a bare function made it."""

    def __init__(self, module: nn.Module, window: Window) -> None:
        self.ref = weakref.ref(module)
        self.window = window
        self.turn = 0
        self.activation = activation_shape(module)
        self.layer = self.activation is None and is_layer(module)
        self.receives = self.layer or is_dropout(module)
        self.catches = self.activation is not None or is_norm(module)
        self.covered = False
        self.output: SampleSlot | None = None
        self.input: SampleSlot | None = None
        self.slots: list[SampleSlot] = []

    def due(self, turn: int) -> bool:
        """Whether to sample it in this turn, now that it was met: layers take turns, activations do not."""
        if self.input is not None:
            return True
        return self.output is not None and not self.covered and not (self.layer and turn % _LAYERS_EVERY)

    def sample_call(self, module: nn.Module, args: Any, output: Any) -> None:
        """The module gave an output. Only the first call of a sample counts."""
        if torch.compiler.is_compiling():
            return
        window = self.window
        if self.turn == window.turn or threading.get_ident() != window.thread or out_of_reach():
            return
        self.turn = window.turn
        graded = torch.is_grad_enabled()
        try:
            torch._C._set_grad_enabled(False)
            if window.learning:
                self._learn(module, args, output)
            if self.input is not None and args and not self.input.take(args[0], self.turn):
                self.input = None
            if self.output is not None and (window.learning or not self.covered):
                result = output if type(output) is torch.Tensor else first_float(output)
                if not self.output.take(result, self.turn):
                    self.output = None
        except Exception as error:
            let_through(error)
            window.error = window.error or error
        finally:
            torch._C._set_grad_enabled(graded)

    def _learn(self, module: nn.Module, args: Any, output: Any) -> None:
        """The first samples of a model, and one now and then: what is there to see?"""
        window = self.window
        inputs = args[0] if args else None
        if self.catches and window.last is not None and type(inputs) is torch.Tensor:
            last, place = window.last
            if place == inputs.data_ptr() and not last.covered:
                last.covered = True
                if last.output is not None:
                    window.shelf.put_apart(last.output)
        window.last = None
        if self.receives and self.input is None:
            self._learn_input(module, inputs)
        result = first_float(output)
        if (self.layer or self.activation is not None) and result is not None and _is_usual(result):
            self._learn_output(module, result)

    def _learn_input(self, module: nn.Module, inputs: Any) -> None:
        """A function leaves no module behind but a node in the graph: the layer after it shows it."""
        node, shape = shape_behind(inputs) if _is_usual(inputs) else (None, None)
        if shape is not None and id(node) not in self.window.nodes:
            self.window.nodes[id(node)] = node
            self.input = self._new_slot(inputs, channels_first(module, inputs.dim()), shape, ".input")

    def _learn_output(self, module: nn.Module, result: torch.Tensor) -> None:
        window = self.window
        first = channels_first(module, result.dim())
        if self.layer:
            window.layout = (result.dim(), first)
            window.last = (self, result.data_ptr())
            window.autocast = window.autocast or autocast_dtype(result.device)
        else:
            window.nodes[id(result.grad_fn)] = result.grad_fn
            if first is None and window.layout[0] == result.dim():
                first = window.layout[1]
        if self.output is None:
            self.output = self._new_slot(result, first, self.activation, "")

    def _new_slot(
        self, tensor: torch.Tensor, first: bool | None, shape: LayerShape | None, suffix: str
    ) -> SampleSlot | None:
        first = first if first is not None else tensor.dim() in (4, 5)
        slot = self.window.shelf.slot(tensor, first, shape)
        if slot is not None:
            self.slots.append(slot)
            self.window.new.append((self, slot, suffix))
        return slot


def _is_usual(tensor: Any) -> bool:
    return (
        type(tensor) is torch.Tensor
        and tensor.is_floating_point()
        and tensor.layout is torch.strided
        and tensor.dim() > 0
        and tensor.numel() > 0
        and not tensor.is_meta
    )
