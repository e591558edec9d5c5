"""Gradients, weights and updates of each layer, on the steps that are sampled.

All parameters of one module are one layer. Gradient norms are exact. Weight norms, update ratios and zero
shares are estimated from at most 2,048 elements of each parameter, the same ones each time; a bias next to
a weight matrix is left out of them.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch

from traindx.observe.torch.element_samples import to_host
from traindx.observe.torch.gradient_norms import Gradients, Scale, read_gradients
from traindx.observe.torch.measures import LayerGroups, StepSample
from traindx.observe.torch.naming import Names
from traindx.observe.torch.roots import HandUpdate, optimizer_parameters
from traindx.observe.torch.sampled_elements import ElementPlan


class LayerProbe:
    """Samples before and after an optimizer's step; `collect` gives what was sampled since its last call."""

    def __init__(self, names: Names) -> None:
        self.names: list[str] = []
        self.samples = 0
        self._module_names = names
        self._index: dict[str, int] = {}
        self._plans: dict[int, tuple[weakref.ref[Any], ElementPlan]] = {}
        self._step_samples: dict[int, StepSample] = {}
        self._silent: dict[str, int] = {}
        self._reached: set[str] = set()
        self._zero: set[str] = set()
        # Of an update by hand: the cosine between it and the gradient, and how many times as long it was.
        self.along: tuple[float, float] | None = None

    def before(
        self,
        optimizer: torch.optim.Optimizer | HandUpdate,
        gradients: bool,
        scale: Scale = None,
        returned_gradients: Sequence[torch.Tensor | None] | None = None,
    ) -> None:
        """Right before the update: a sample of the weights, and the gradients unless they come later.

        `given`: the gradients where parameters do not hold them.
        """
        parameters = optimizer_parameters(optimizer)
        with torch.no_grad():
            plan = self._plan(optimizer, parameters)
            plan.keep_before(parameters)
            self._step_samples[id(optimizer)] = sample = StepSample(plan)
            if gradients:
                tensors = (
                    [parameter.grad for parameter in parameters]
                    if returned_gradients is None
                    else returned_gradients
                )
                sample.gradients = read_gradients(plan, tensors, _scale(optimizer, scale))

    def after(
        self, optimizer: torch.optim.Optimizer | HandUpdate, gradients: bool, scale: Scale = None
    ) -> None:
        """Right after the update: the same elements again; the gradients if the step made them itself."""
        sample = self._step_samples.get(id(optimizer))
        if sample is None:
            return
        parameters = optimizer_parameters(optimizer)
        with torch.no_grad():
            sample.updated = sample.plan.keep_after(parameters)
            if gradients:
                tensors = [parameter.grad for parameter in parameters]
                sample.gradients = read_gradients(sample.plan, tensors, _scale(optimizer, scale))

    def gradient_norm(self, optimizer: torch.optim.Optimizer | HandUpdate) -> torch.Tensor | None:
        """The norm of all gradients of the sample under way, for the price of adding up what is known."""
        sample = self._step_samples.get(id(optimizer))
        return None if sample is None or sample.gradients is None else sample.gradients.total()

    def forget(self) -> None:
        """The step was not taken after all."""
        self._step_samples.clear()

    def collect(self) -> dict[str, list[float | None]] | None:
        """What was seen of each layer, in the order of `names`; None is a gap."""
        samples, self._step_samples = list(self._step_samples.values()), {}
        if not samples:
            return None
        self.samples += 1
        arrays = iter(to_host([tensor for sample in samples for tensor in sample.tensors()]))
        layers = LayerGroups(len(self.names), by_hand=samples[0].plan.by_hand)
        with np.errstate(all="ignore"):
            for sample in samples:
                squares = layers.add(sample, arrays)
                if sample.gradients is not None and sample.plan.unreached:
                    self._count_silent(sample.plan, sample.gradients, squares)
        self.along = layers.along()
        return layers.statistics()

    def without_gradient(self) -> list[str]:
        """Trainable layers no sample saw a gradient in; single parameters if the rest of a layer had one."""
        layers: dict[str, None] = {}
        for _, plan in self._plans.values():
            trained = {
                layer for layer, name in zip(plan.layers, plan.names, strict=True) if name in self._reached
            }
            for layer, name in zip(plan.layers, plan.names, strict=True):
                if name in self._silent:
                    layers[name if layer in trained else self.names[layer]] = None
        return list(layers)

    def reached(self) -> int:
        """Parameters that a gradient was seen in."""
        return len(self._reached)

    def cut_off(self) -> list[str]:
        """Parameters whose gradient was None in every sample: nothing links them to the loss."""
        return [name for name in self._silent if name not in self._zero]

    def _plan(
        self, optimizer: torch.optim.Optimizer | HandUpdate, parameters: list[torch.Tensor]
    ) -> ElementPlan:
        key = id(optimizer)
        by_hand = not isinstance(optimizer, torch.optim.Optimizer)
        entry = self._plans.get(key)
        plan = entry[1] if entry is not None and entry[0]() is optimizer else None
        if plan and (
            plan.fits(parameters, self._module_names.version) or (by_hand and plan.follows(parameters))
        ):
            return plan
        self._module_names.refresh([optimizer])
        layers = [self._layer(self._module_names.layer_of(parameter)) for parameter in parameters]
        plan = ElementPlan(parameters, layers, self._module_names.version)
        plan.by_hand = by_hand
        plan.names = [self._module_names.parameter_name(parameter) for parameter in parameters]
        plan.unreached = [number for number in plan.unreached if plan.names[number] not in self._reached]
        # The plan holds the memory of the weights: it must go when the optimizer goes.
        plans = self._plans
        plans[key] = (weakref.ref(optimizer, lambda _: plans.pop(key, None)), plan)
        return plan

    def _layer(self, name: str) -> int:
        if name not in self._index:
            self._index[name] = len(self.names)
            self.names.append(name)
        return self._index[name]

    def _count_silent(self, plan: ElementPlan, gradients: Gradients, squares: dict[int, float]) -> None:
        """Parameters that never had a gradient: None or all zero, in every sample."""
        waiting = []
        for number in plan.unreached:
            name = plan.names[number]
            if number in gradients.missing or squares.get(number) == 0:
                waiting.append(number)
                if number not in gradients.missing:
                    self._zero.add(name)
                self._silent[name] = self._silent.get(name, 0) + 1
            else:
                self._reached.add(name)
                self._silent.pop(name, None)
        plan.unreached = waiting


def _scale(optimizer: torch.optim.Optimizer | HandUpdate, scale: Scale) -> Scale:
    """Fused optimizers get gradients that are still scaled, together with the scale."""
    return scale if scale is not None else getattr(optimizer, "grad_scale", None)
