"""The measurements of one training step, gathered while it is traced or run.

A tap is open for the thread in which the step is traced. The patched methods of Keras hand it tensors; `out`
gives small tensors that leave the step as ordinary outputs, so that nothing is called back from a graph, no
variable is made and no random number drawn. Names of layers stay here, in Python.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from math import prod
from typing import Any

from traindx.observe.keras.outputs_of_step import StepOutputs, is_sampled
from traindx.observe.keras.suspects import stretched, suspect
from traindx.observe.keras.tensors import (
    call_mode,
    flat,
    host,
    is_real,
    number,
    scope_of,
    tape_records,
    untracked,
)

_MOST = 16
_MODAL = frozenset("Dropout SpatialDropout1D SpatialDropout2D GaussianDropout BatchNormalization".split())
_open = threading.local()


def current() -> Tap | None:
    """The tap of the step that this thread is tracing or running, where it is to be shown anything."""
    tap: Tap | None = getattr(_open, "tap", None)
    return None if tap is None or (tap.between and not tape_records()) else tap


def opened() -> Tap | None:
    """The tap that is open in this thread, also between the steps of a hand-written loop."""
    return getattr(_open, "tap", None)


def leave_open(tap: Tap | None) -> None:
    """A hand-written loop begins its next step: its tap is open until the optimizer has stepped."""
    _open.tap = tap


class Tap:
    """One step: a light tap takes loss and rate, a full one also layers, weights and the batch.

    `between`: it stays open between the steps of a loop that is not traced. One that `listens` only takes
    note of models and optimizers, and adds nothing to what is traced.
    """

    def __init__(
        self,
        full: bool,
        failed: Callable[[str, Exception], None],
        *,
        activations: bool = True,
        between: bool = False,
        listens: bool = False,
        functional: bool = False,
    ) -> None:
        self.full = full
        # JAX: what is computed where the gradient is taken leaves it only as part of its result.
        self.functional = functional
        self.inside_gradient = False
        self.carries = False
        self.between = between
        self.listens = listens
        self.scope = scope_of()
        self.optimizers: list[Any] = []
        self.optimizer_variables: list[list[Any]] = []
        self.roots: list[Any] = []
        self.last_layer: Any = None
        self.losses: list[tuple[Any, Any, Any]] = []
        # Whether layers that act otherwise in training were called as in training.
        self.modes: set[bool] = set()
        self._training_requested = False
        # The operation of the script's own that is most likely to make NaN, and tables of samples by samples.
        self.suspect = ""
        self.stretched: list[dict[str, str]] = []
        self.outputs = StepOutputs(full, activations=activations, checks=not listens, scope=self.scope)
        self._failed = failed
        self._fitted: list[Any] = []
        self._targets: list[tuple[Any, set[int]]] = []
        self._loss: Any = None
        self._unscaled = False
        self._depth = 0
        self._inside = 0

    def __enter__(self) -> Tap:
        self._outer = opened()
        _open.tap = self
        return self

    def __exit__(self, *_: object) -> None:
        _open.tap = self._outer

    @property
    def variables(self) -> list[Any]:
        return self.outputs.variables

    @property
    def layers(self) -> list[Any]:
        return self.outputs.layers

    @property
    def scalar_names(self) -> tuple[str, ...]:
        return self.outputs.scalar_names

    def out(self) -> dict[str, Any]:
        """Everything as one structure of tensors."""
        return self.outputs.out()

    def numbers(self, scalars: Any) -> dict[str, float]:
        """The scalars that left the step, by name."""
        return dict(zip(self.scalar_names, host(scalars).tolist(), strict=True))

    def mine(self, tensor: Any) -> bool:
        """Whether a tensor can leave with this step: not one of a loop, a branch or a model being built."""
        if type(tensor).__name__ == "KerasTensor":
            return False
        return hasattr(tensor, "shape") and getattr(tensor, "graph", None) is self.scope

    def models(self) -> list[Any]:
        """The models that were called, each once."""
        return list({id(model): model for model in self.roots if model.weights}.values())

    def guarded(self, probe: str, call: Callable[..., None], *args: Any) -> None:
        try:
            with untracked():
                call(*args)
        except Exception as error:
            self._failed(probe, error)

    # Called by the patches.

    def call_layer(self, call: Callable[[], Any], layer: Any, inputs: Any, mode: object = None) -> Any:
        """Around the call of a layer with `training=mode`; the outermost one is a model."""
        if self._depth:
            return call()
        if self._inside == 0:
            self._training_requested = mode is True
            self.guarded("batches", self._saw_model, layer, inputs)
        elif type(layer).__name__ in _MODAL:
            self.modes.add(self._training_requested or bool(call_mode() if mode is None else mode))
        self._inside += 1
        try:
            output = call()
        finally:
            self._inside -= 1
        self.guarded("activations", self._saw_output, layer, output)
        return output

    def begins(self, batch: Any) -> None:
        """TensorFlow: the moment at which the batch of this step is there, by its own clock."""
        if self.scope is not None:
            self.outputs.arrived([tensor for tensor in flat(batch) if self.mine(tensor)])

    def saw_loss(self, loss: Any, *, unscaled: bool = False) -> None:
        """The loss of the step before it is scaled, or what Keras computed as such."""
        if self.functional:
            return
        if self._depth == 0 and self.mine(loss) and (unscaled or not self._unscaled):
            self._loss, self._unscaled = loss, unscaled

    def saw_target(self, target: Any, sources: Iterable[Any]) -> None:
        """A gradient tape is asked for the gradients of `target`."""
        if self._depth == 0 and self.mine(target):
            self._targets.append((target, {id(source) for source in flat(sources)}))
            del self._targets[:-_MOST]

    def saw_loss_call(self, function: Any, targets: Any, outputs: Any, value: Any) -> None:
        """A loss function of Keras was called."""
        if self._depth:
            return
        flat_targets, flat_outputs = flat(targets), flat(outputs)
        if len(flat_targets) != 1 or len(flat_outputs) != 1 or not self.mine(flat_outputs[0]):
            return
        if len(self.losses) < _MOST:
            self.losses.append((function, flat_targets[0], flat_outputs[0]))
        if self.functional or self.listens:
            return
        if self.mine(value):
            self._fitted.append(value)
        self.outputs.check("output", [flat_outputs[0]])
        self.outputs.check(
            "target", [flat_targets[0]] if self.mine(flat_targets[0]) and is_real(flat_targets[0]) else []
        )
        if self.mine(flat_targets[0]):
            self.outputs.compared(flat_targets[0], flat_outputs[0])

    def apply(
        self, optimizer: Any, gradients: list[Any], variables: list[Any], call: Callable[[], Any]
    ) -> Any:
        """Around `Optimizer.apply`: gradients as they come, weights before and after."""
        if self._depth or not variables:
            return call()
        old_weights: list[Any] = []
        self.guarded("layers", self._before, optimizer, variables, old_weights)
        self._depth += 1
        try:
            result = call()
        finally:
            self._depth -= 1
        if old_weights:
            self.guarded("layers", self._after, optimizer, gradients, variables, old_weights)
        return result

    # JAX.

    def leave_gradient(self) -> tuple[Any, ...]:
        """What was gathered where the gradient is taken, to be part of its result."""
        self.inside_gradient, self.carries = False, True
        return self.outputs.take_activations()

    def saw_step(self, loss: Any, x: Any, y: Any, y_pred: Any, gathered: tuple[Any, ...]) -> None:
        """The result of the gradient function, after it was left."""
        self.outputs.activations = list(gathered)
        self.outputs.scalars["loss/0"] = number(loss)
        self._saw_inputs(x)
        targets, outputs = flat(y), flat(y_pred)
        if len(targets) == len(outputs) == 1:
            self.outputs.check("output", outputs)
            self.outputs.compared(targets[0], outputs[0])

    # What they do.

    def _saw_model(self, layer: Any, inputs: Any) -> None:
        self.roots.append(layer)
        del self.roots[:-_MOST]
        if self.listens or self.functional:
            return
        self._saw_inputs(inputs)

    def _saw_inputs(self, inputs: Any) -> None:
        self.outputs.batch([tensor for tensor in flat(inputs) if self.mine(tensor)])

    def _saw_output(self, layer: Any, output: Any) -> None:
        outputs = [tensor for tensor in flat(output) if self.mine(tensor) and is_real(tensor)]
        if not outputs or not is_sampled(layer):
            return
        self.last_layer = layer
        if self.inside_gradient or not self.functional:
            self.outputs.activation(layer, outputs[0])

    def _before(self, optimizer: Any, variables: list[Any], old_weights: list[Any]) -> None:
        key = f"{len(self.optimizers)}"
        self.optimizers.append(optimizer)
        self.optimizer_variables.append(variables)
        if self.listens or scope_of() is not self.scope:  # in a loop of the function: counted, not seen
            return
        scalars = self.outputs.scalars
        scalars[f"lr/{key}"] = number(optimizer.learning_rate)
        smallest = min(variables, key=lambda variable: prod(variable.shape))
        self.outputs.check("weights", [smallest.value if hasattr(smallest, "path") else smallest])
        loss = self._loss_of(variables)
        if loss is not None:
            scalars[f"loss/{key}"] = number(loss)
            if self.full and len(self._fitted) == 1:
                scalars["fitted"] = number(self._fitted[0])
            if self.scope is not None and not self.suspect:
                self.suspect, self.stretched = suspect(loss), stretched(loss)
        if self.full:
            from keras import ops

            old_weights += [
                ops.copy(variable.value if hasattr(variable, "path") else variable) for variable in variables
            ]

    def _loss_of(self, variables: list[Any]) -> Any:
        """What these variables were differentiated for; a scaled loss is taken before it was scaled."""
        if self._unscaled:
            return self._loss
        ours = {id(variable) for variable in variables} | {
            id(getattr(variable, "value", None)) for variable in variables
        }
        fitting = [target for target, sources in self._targets if sources & ours]
        if fitting:
            return fitting[-1]
        return self._targets[-1][0] if self._targets else self._loss

    def _after(
        self, optimizer: Any, gradients: list[Any], variables: list[Any], old_weights: list[Any]
    ) -> None:
        scale = optimizer.dynamic_scale if hasattr(optimizer, "dynamic_scale") else None
        for variable, gradient, weights in zip(variables, gradients, old_weights, strict=True):
            new_weights = variable.value if hasattr(variable, "path") else variable
            self.outputs.update(variable, gradient, weights, new_weights, scale)
