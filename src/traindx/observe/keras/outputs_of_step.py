"""The small tensors that leave a training step: scalars, updates, activations, samples of the batch."""

from __future__ import annotations

from typing import Any

from traindx.observe.keras.layer_statistics import activation_of
from traindx.observe.keras.small_tensors import activation_sample, batch_sample, total, update_numbers
from traindx.observe.keras.tensors import is_real, number

_ACTIVATIONS = 400
_PRODUCTS = ("Mul", "RealDiv", "Div")


class StepOutputs:
    """What one step gives out; a step that is not `full` gives scalars alone.

    `variables` and `layers` name, in order, what the updates and activations are of.
    """

    def __init__(self, full: bool, *, activations: bool, checks: bool, scope: Any) -> None:
        self.scalars: dict[str, Any] = {}
        self.activations: list[Any] = []
        self.variables: list[Any] = []
        self.layers: list[Any] = []
        self.scalar_names: tuple[str, ...] = ()
        self._full = full
        self._wants_activations = activations
        self._checks = checks
        self._scope = scope
        self._updates: list[Any] = []
        self._gradients: list[Any] = []
        self._data: dict[str, Any] = {}
        self._arrival: Any = None

    def arrived(self, batch: list[Any]) -> None:
        """TensorFlow: the moment at which the batch is there, by its own clock."""
        if self._wants_activations:
            import tensorflow

            with tensorflow.control_dependencies(batch[:1]):
                self._arrival = tensorflow.timestamp()

    def batch(self, inputs: list[Any]) -> None:
        """What the model is called with."""
        if self._full and inputs and "rows" not in self.scalars:
            self.scalars["rows"] = _rows(inputs[0])
        real = [tensor for tensor in inputs if is_real(tensor)]
        self.check("input", real)
        if self._full and inputs and "input" not in self._data:
            self._data["input"] = batch_sample((real or inputs)[0])

    def compared(self, target: Any, output: Any) -> None:
        """What a loss function is called with; the first counts."""
        if self._full and "output" not in self._data:
            self._data |= {"target": batch_sample(target), "output": batch_sample(output)}

    def check(self, part: str, tensors: list[Any]) -> None:
        """Whether all values are numbers: where a NaN comes from is asked when it has gone by."""
        name = f"bad/{part}"
        if self._wants_activations and self._checks and tensors and name not in self.scalars:
            self.scalars[name] = total(tensors[0])

    def activation(self, layer: Any, output: Any) -> None:
        """The output of a layer."""
        is_wanted = self._full and self._wants_activations and len(self.activations) < _ACTIVATIONS
        if not is_wanted or self._may_fold(output):
            return
        sample = activation_sample(output, getattr(layer, "data_format", None) == "channels_first")
        if sample is not None:
            self.layers.append(layer)
            self.activations.append(sample)

    def take_activations(self) -> tuple[Any, ...]:
        """All so far; they leave by another way."""
        activations, self.activations = tuple(self.activations), []
        return activations

    def update(self, variable: Any, gradient: Any, before: Any, after: Any, scale: Any) -> None:
        """The gradient of a variable, and what the optimizer made of it."""
        numbers, sample = update_numbers(gradient, before, after, scale)
        self.variables.append(variable)
        self._updates.append(numbers)
        self._gradients.append(sample)

    def out(self) -> dict[str, Any]:
        """Everything as one structure of tensors. No lists: they have no type inside an `Optional`."""
        from keras import ops

        self.scalar_names = tuple(self.scalars)
        outputs: dict[str, Any] = {}
        if self.scalars:
            outputs["scalars"] = ops.stack(list(self.scalars.values()))
        if self._arrival is not None:
            outputs["there"] = self._arrival
        if self._full:
            if self._updates:
                outputs["updates"] = ops.stack(self._updates)
                outputs["gradients"] = tuple(self._gradients)
            outputs["activations"] = tuple(self.activations)
            outputs["data"] = dict(self._data)
        return outputs

    def _may_fold(self, output: Any) -> bool:
        """TensorFlow joins factors of products that follow each other, unless somebody looks between them.

        That is so after GELU, and changes the last bits: such outputs are left alone.
        """
        return self._scope is not None and output.op.type in _PRODUCTS


def is_sampled(layer: Any) -> bool:
    """A layer with weights and none inside, but for the cell of a recurrent one; an activation."""
    if getattr(layer, "_layers", None):
        return hasattr(layer, "cell")
    return bool(layer.weights or activation_of(layer))


def _rows(tensor: Any) -> Any:
    """The size of the batch as a number."""
    from keras import ops

    return ops.cast(ops.shape(tensor)[0], "float32") if len(tensor.shape) else number(1.0)
