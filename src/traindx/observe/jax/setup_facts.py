"""What is recorded once of a JAX training: weights as layers, optimizer, loss, framework, settings."""

from __future__ import annotations

import contextlib
from math import prod, sqrt
from typing import Any

import numpy as np

from traindx.observe import frameworks
from traindx.observe.jax.batches import inputs_and_targets
from traindx.observe.jax.graph import compared, depends, stretched
from traindx.observe.jax.losses import written_fact
from traindx.observe.jax.pytrees import leaves, sample
from traindx.observe.jax.tracing import Notes
from traindx.observe.recorder import Recorder

_LISTED = 500
_LIBRARIES = ("jax", "flax", "equinox", "optax", "numpy", "sklearn", "tensorflow_datasets", "orbax", "haiku")
_RATES = 200
_RESET_AFTER = 4


class JaxFacts:
    """Gathered as they show themselves, written to `run.json`."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self._optimizers: list[dict[str, Any]] = []
        self._losses: dict[str, dict[str, Any]] = {}
        self._limit: float | None = None
        self._decay: float | None = None
        self._rate: float | None = None
        self._schedule: Any = None
        self._reset_reported = False

    @property
    def only_optimizer(self) -> dict[str, Any] | None:
        return self._optimizers[0] if len(self._optimizers) == 1 else None

    def traced(self, notes: Notes, arguments: Any) -> None:
        """A function that trains was traced, and called with these arguments."""
        argument_leaves = leaves(arguments)
        self._framework()
        self._model(notes, argument_leaves)
        self.optimizers(notes.optimizers)
        self._loss_calls(notes)
        if notes.state_dropped:
            self.state_lost("the state that its update returns does not leave the step")
        where, _ = inputs_and_targets(notes, argument_leaves)
        if where is not None:
            self.recorder.setting("batch_size", int(argument_leaves[where].shape[0]))

    def _framework(self) -> None:
        self.recorder.fact("libraries", frameworks.versions(_LIBRARIES))
        name = frameworks.jax_name()
        self.recorder.framework = f"{name}: {frameworks.SEEN_OF_JAX} were recorded"
        self.recorder.fact("framework", {"name": name})

    def _model(self, notes: Notes, argument_leaves: list[Any]) -> None:
        layers: dict[str, list[int]] = {}
        for number, name in enumerate(notes.names):
            layers.setdefault("/".join(name[:-1]) or name[0], []).append(number)
        listed = [_layer(name, numbers, notes, argument_leaves) for name, numbers in layers.items()]
        matrices = [layer for layer in listed if layer["kind"] in ("dense", "conv", "recurrent", "attention")]
        total = sum(prod(argument_leaves[place].shape) for place in notes.weights)
        dtypes: dict[str, int] = {}
        for place in notes.weights:
            kind = str(argument_leaves[place].dtype)
            dtypes[kind] = dtypes.get(kind, 0) + prod(argument_leaves[place].shape)
        fact = {
            "class": "pytree",
            "parameters": total,
            "trainable": total,
            "layers": len(matrices),
            "layer_list": listed[:_LISTED],
            "normalisation": {},
            "dropout": [],
            "shared": [],
            "dtypes": dtypes,
            "recurrent": any(layer["kind"] == "recurrent" for layer in listed),
            "attention": any(layer["kind"] == "attention" for layer in listed),
        }
        self.recorder.fact("models", [fact])
        self.recorder.setting("model_parameters", total)
        self.recorder.setting("trainable_parameters", total)
        if matrices:
            self.recorder.setting("layers", len(matrices))

    def optimizers(self, facts: list[dict[str, Any]]) -> None:
        """Transformations whose `update` was called."""
        for fact in facts:
            if "clips" in fact:
                self.recorder.fact("clipping", {"by": fact["clips"], "limit": fact["limit"]})
                if fact["clips"] == "norm" and fact["limit"] is not None:
                    self._limit = fact["limit"]
                    self.recorder.setting("clip", fact["limit"])
            elif "decay" in fact:
                self.recorder.setting("weight_decay", fact["decay"])
                self._decay = fact["decay"]
            elif fact not in self._optimizers:
                if self._decay is not None:  # before the optimizer: an L2 term of the gradient
                    fact["group"].setdefault("weight_decay", self._decay)
                self._optimizers.append(fact)
                self._optimizer(fact)

    def _optimizer(self, fact: dict[str, Any]) -> None:
        if len(self._optimizers) == 1:
            self._rate, self._schedule = fact["lr"], fact["schedule"]
            self.recorder.setting("optimizer", fact["class"])
            for name, value in fact["group"].items():
                self.recorder.setting(name, value)
            rate = self._rate if self._schedule is None else self._scheduled(0)
            if rate is not None:
                self.recorder.setting("lr", rate)
            if self._schedule is not None:
                self.recorder.setting("schedule", str(getattr(self._schedule, "__name__", "schedule")))
        optimizers = [
            {
                "class": optimizer["class"],
                "name": optimizer["name"],
                "groups": [{"lr": optimizer["lr"], **optimizer["group"]}],
                "parameters": 0,
                "elements": 0,
                "not_held": [],
            }
            for optimizer in self._optimizers
        ]
        self.recorder.fact("optimizers", optimizers)

    def _loss_calls(self, notes: Notes) -> None:
        for fact in notes.loss_calls:
            loss_fact = {key: value for key, value in fact.items() if key != "shape"}
            self._losses.setdefault(str(fact["function"]), loss_fact)
        if self._losses:
            self.recorder.fact("losses", list(self._losses.values()))
            if len(self._losses) == 1:
                self.recorder.setting("loss_function", next(iter(self._losses)))

    def graph(self, jaxpr: Any, notes: Notes) -> None:
        """What was compiled for a step, as JAX remembers it from its tracing."""
        stretches = stretched(jaxpr)
        if stretches:
            self.recorder.fact("graph", {"stretched": stretches})
        copies = {place for place, argument in enumerate(notes.arrays) if argument in notes.copy}
        if copies and notes.loss_place is not None and depends(jaxpr, notes.loss_place, copies):
            self.recorder.fact("objective", {"moving_target": True})
        if notes.loss_calls or notes.loss_place is None or notes.repeats > 1:
            return
        comparison = compared(jaxpr, notes.loss_place)
        if comparison is not None and comparison[1] < len(notes.arrays):
            kind, place, shape = comparison
            target = notes.arrays[place]
            if target in notes.batch:
                notes.target = target
                notes.loss_calls.append(written_fact(kind, shape))

    def rate(self, step: int, sampled: bool) -> float | None:
        """The learning rate of a step; a schedule is asked at sampled steps only."""
        if self._schedule is None:
            return self._rate
        return self._scheduled(step - 1) if sampled else None

    def _scheduled(self, count: int) -> float | None:
        with contextlib.suppress(Exception):  # a function of the user's
            return float(np.asarray(self._schedule(count)))
        self._schedule = None
        return None

    def state_lost(self, why: str) -> None:
        """The optimizer begins again at each step."""
        if not self._reset_reported:
            self._reset_reported = True
            self.recorder.event("optimizer_state_reset", why)

    def norms(self, norm: float, *, raw: bool) -> dict[str, float]:
        """The norm of all gradients; moments hold gradients as they are after clipping."""
        if self._limit is None:
            return {"grad_norm": norm}
        if raw:
            return {"grad_norm": norm, "grad_norm_clipped": min(norm, self._limit)}
        clipped = {"grad_norm_clipped": norm}
        return clipped | ({"grad_norm": norm} if norm < 0.99 * self._limit else {})

    def end(self, batches: dict[str, Any], steps: int, counted: list[tuple[int, int]]) -> None:
        """What only the end shows."""
        for key, value in batches.items():
            if value:
                self.recorder.fact(key, value)
        if self._schedule is not None and steps > 1:
            for step in sorted({1 + (steps - 1) * n // _RATES for n in range(_RATES + 1)}):
                rate = self._scheduled(step - 1)
                if rate is not None:
                    self.recorder.row({"lr": rate}, step)
        late = [count for step, count in counted if step > _RESET_AFTER]
        if len(late) > 1 and not any(late):
            self.state_lost(f"it had counted no step in {len(late)} samples")
        self.recorder.record_overhead()


def _layer(name: str, numbers: list[int], notes: Notes, argument_leaves: list[Any]) -> dict[str, Any]:
    """Name, kind, shape (outputs first, as everywhere) and initial weights."""
    number = max(numbers, key=lambda candidate: len(argument_leaves[notes.weights[candidate]].shape))
    weight = argument_leaves[notes.weights[number]]
    shape = [int(size) for size in weight.shape]
    word = notes.names[number][-1]
    kind = _kind(name, word, len(shape))
    fact: dict[str, Any] = {"name": name, "type": kind.title(), "kind": kind}
    fact["parameters"] = sum(prod(argument_leaves[notes.weights[index]].shape) for index in numbers)
    turned = word == "weight"  # as Equinox writes them: outputs first
    if len(shape) > 1 and kind != "embedding" and not turned:
        fact["shape"] = [shape[-1], shape[-2], *shape[:-2]]
    else:
        fact["shape"] = shape
    values = sample(weight) if prod(shape) > 1 else None
    if values is not None:
        fact["init"] = {"mean": float(values.mean()), "std": float(values.std())}
        if len(shape) > 1 and kind != "embedding":
            fan_in = prod(shape[1:]) if turned else prod(shape[:-1])
            fact["init"] |= {"fan_in": fan_in, "gain": float(values.std()) * sqrt(fan_in)}
    return fact


def _kind(layer: str, leaf: str, dimensions: int) -> str:
    layer = layer.rpartition("/")[2].lower()
    if "norm" in layer or layer.startswith("bn") or leaf == "scale":
        return "norm"
    if "embed" in layer or "embed" in leaf:
        return "embedding"
    if any(word in layer for word in ("attention", "query", "key", "value")):
        return "attention"
    if any(word in layer for word in ("lstm", "gru", "rnn", "cell")):
        return "recurrent"
    if (dimensions >= 3 and "conv" in layer) or dimensions >= 4:
        return "conv"
    return "dense" if dimensions == 2 else "other"
