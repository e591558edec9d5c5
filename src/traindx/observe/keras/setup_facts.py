"""What is recorded once of a Keras training: models, optimizers, losses, data, callbacks, settings."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from traindx.observe.frameworks import keras_name, versions
from traindx.observe.keras import loss_facts
from traindx.observe.keras.model_facts import elements, model_facts
from traindx.observe.keras.tap import Tap
from traindx.observe.keras.tensors import host

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_MOST = 16
_LIBRARIES = ("keras", "tensorflow", "jax", "torch", "numpy", "sklearn", "keras_hub", "tensorflow_datasets")
# What Keras calls the settings of an optimizer, and their canonical names.
_SETTINGS = {"momentum": "momentum", "epsilon": "eps", "weight_decay": "weight_decay", "beta_1": "beta1"}
_SETTINGS |= {"beta_2": "beta2", "gradient_accumulation_steps": "accumulation"}
# PyTorch's spelling of the same optimizer, which the detectors know.
_CLASSES = {"RMSprop": "RMSprop", "Nadam": "NAdam"}
# What is of one training, and not of the process.
_OF_TRAINING = (
    *("models", "optimizers", "losses", "loaders", "schedulers", "graph", "reach"),
    *("classes", "samples", "clipping", "callbacks"),
)
_SETTINGS_OF_TRAINING = (
    *("batch_size", "train_samples", "validation_split", "epochs", "class_weight", "clip", "schedule"),
    *("loss_function", "optimizer", "lr", "model", "model_parameters", "trainable_parameters", "layers"),
    *("dropout", *_SETTINGS.values()),
)
_CLIPPING = {"clipnorm": "norm of each weight", "global_clipnorm": "norm", "clipvalue": "value"}


class KerasFacts:
    """Gathered as they show themselves, written to `run.json`."""

    def __init__(self, training: KerasTraining) -> None:
        self.training = training
        self.recorder = training.recorder
        self._trained: dict[int, weakref.ref[Any]] = {}
        self._phases: list[dict[str, object]] = []
        self._models: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
        self._kept_models: list[Any] = []
        self._losses: dict[str, dict[str, object]] = {}
        self._optimizer_names: dict[int, str] = {}
        self._optimizers: list[dict[str, Any]] = []
        self._limit: float | None = None
        self._reported_free = False
        self._reported_mode = False

    def models(self) -> list[Any]:
        """The models that have trained, where they are kept."""
        return self._kept_models

    def trains(self, variables: list[Any]) -> None:
        """These variables are trained from now on."""
        self._trained.update({id(variable): weakref.ref(variable) for variable in variables})

    def are_new(self, variables: list[Any]) -> bool:
        """Whether others have been trained before, and none of these."""
        matches = [
            self._trained[id(variable)]() is variable
            for variable in variables
            if id(variable) in self._trained
        ]
        return bool(self._trained) and not any(matches)

    def restart(self, models: list[Any]) -> None:
        """Another training begins: the facts so far are of the one before it."""
        self.training.names.restart()
        self.training.names.saw(models)
        for key, value in self.training.steps.batches.facts().items():
            if value:
                self.recorder.fact(key, value)
        self._phases = [*self._phases, self.recorder.take(_OF_TRAINING, _SETTINGS_OF_TRAINING)][:_MOST]
        self.recorder.fact("phases", self._phases)
        self.recorder.fact("settings_of_phases", list(_SETTINGS_OF_TRAINING))
        self._losses, self._optimizer_names, self._optimizers = {}, {}, []
        self._reported_free = self._reported_mode = False

    def begins(self, models: list[Any], optimizers: list[Any]) -> None:
        """The first step is about to be taken: weights are still as they were initialised."""
        recorder, names = self.recorder, self.training.names
        names.saw(models)
        for model in models[:8]:
            if not self._models.get(model, {}).get("parameters"):  # new, or not built when it was seen first
                self._models[model] = model_facts(model, names)
        if self.training.keeps_models:
            self._kept_models = list({id(model): model for model in (*self._kept_models, *models)}.values())
        facts = [self._models[model] for model in models[:8]] or list(self._models.values())
        for optimizer in optimizers:
            if id(optimizer) not in self._optimizer_names and len(self._optimizers) < _MOST:
                self._optimizers.append(optimizer_facts(optimizer) | {"name": self._name(optimizer, models)})
                self._optimizer_names[id(optimizer)] = str(self._optimizers[-1]["name"])
        optimizer_list = self._optimizers
        recorder.fact("models", facts)
        recorder.fact("optimizers", [dict(fact) for fact in optimizer_list])
        libraries: dict[str, object] = {"keras_backend": self.training.backend} | versions(_LIBRARIES)
        recorder.fact("libraries", libraries)
        name = keras_name(str(libraries.get("keras", "3")), self.training.backend)
        recorder.framework = (
            f"{name}: loss, learning rate, gradients, updates, activations and batches were recorded"
        )
        recorder.fact("framework", {"name": name})
        for name, value in settings_of(facts, optimizer_list).items():
            recorder.setting(name, value)
        self._clipping(optimizers[0] if optimizers else None)
        self._schedule(optimizers[0] if optimizers else None)

    def _name(self, optimizer: Any, models: list[Any]) -> str:
        """What the model calls it, else what Keras does."""
        attributes = [name for model in models for name, value in vars(model).items() if value is optimizer]
        name = next((name for name in attributes if not name.startswith("_") and name != "optimizer"), "")
        return name or str(optimizer.name)

    def _clipping(self, optimizer: Any) -> None:
        self._limit = None
        for key, by in _CLIPPING.items():
            limit = getattr(optimizer, key, None)
            if isinstance(limit, int | float):
                if key == "global_clipnorm":
                    self._limit = float(limit)
                    self.recorder.setting("clip", float(limit))
                elif key == "clipnorm":
                    self.recorder.setting("clip", float(limit))
                self.recorder.fact("clipping", {"by": by, "limit": float(limit)})

    def clipped(self, norm: float) -> float | None:
        """The norm of all gradients after clipping, where Keras clips them together."""
        return None if self._limit is None else min(norm, self._limit)

    def _schedule(self, optimizer: Any) -> None:
        schedule = getattr(optimizer, "_learning_rate", None)
        if schedule is not None and hasattr(schedule, "get_config") and callable(schedule):
            config = {
                key: value
                for key, value in schedule.get_config().items()
                if isinstance(value, int | float | str)
            }
            self.recorder.fact("schedulers", [{"class": type(schedule).__name__, **config}])
            self.recorder.setting("schedule", type(schedule).__name__)

    def step(self, tap: Tap, out: dict[str, Any]) -> None:
        """What a traced step shows: loss functions, and what its optimizers change."""
        numbers = tap.numbers(out["scalars"]) if "scalars" in out else {}
        self._losses_of(tap, int(numbers.get("rows") or 0))
        if tap.modes == {False} and not self._reported_mode:
            self._reported_mode = True
            self.recorder.event("mode", "the model is trained in eval mode", {"training": False})
        held_ids = {id(variable) for variables in tap.optimizer_variables for variable in variables}
        inside = {id(variable): variable for model in tap.models() for variable in model.trainable_variables}
        free = [variable for key, variable in inside.items() if key not in held_ids]
        missing = [self.training.names.variable(variable) for variable in free][:200]
        for optimizer, variables in zip(tap.optimizers, tap.optimizer_variables, strict=True):
            fact = next(
                (
                    entry
                    for entry in self._optimizers
                    if entry["name"] == self._optimizer_names.get(id(optimizer))
                ),
                None,
            )
            if fact is not None:
                fact |= {"parameters": len(variables), "elements": elements(variables), "not_held": missing}
        self.recorder.fact("optimizers", [dict(fact) for fact in self._optimizers])
        self._reach(tap, free, missing)
        if missing and len(self._optimizers) == 1 and not self._reported_free:
            self._reported_free = True
            listing = ", ".join(missing[:6]) + (" ..." if len(missing) > 6 else "")
            self.recorder.event(
                "parameters_not_in_optimizer",
                f"trainable but in no optimizer: {listing}",
                {"parameters": missing[:100]},
            )

    def _reach(self, tap: Tap, free: list[Any], names: list[str]) -> None:
        """What is behind the loss, compared with what the only optimizer holds."""
        if len(self._optimizers) != 1:
            return
        held_variables = [variable for variables in tap.optimizer_variables for variable in variables]
        reach = {
            "parameters": len(held_variables) + len(names),
            "elements": elements(held_variables) + elements(free),
            "held": len(held_variables),
            "free": names,
            "free_elements": elements(free),
            "outside": 0,
            "complete": True,
        }
        self.recorder.fact("reach", reach)
        if tap.stretched:
            self.recorder.fact("graph", {"stretched": tap.stretched})

    def _losses_of(self, tap: Tap, rows: int) -> None:
        new = False
        for function, target, output in tap.losses:
            name = loss_facts.function_name(function)
            if name not in self._losses or (rows and "?" in str(self._losses[name]["output_shape"])):
                last = tap.last_layer if len(tap.losses) == 1 else None
                self._losses[name] = loss_facts.facts(function, target, output, last, rows)
                new = True
        if new:
            self.recorder.fact("losses", list(self._losses.values()))
            if len(self._losses) == 1:
                self.recorder.setting("loss_function", next(iter(self._losses)))

    def optimizer_names(self, tap: Tap) -> list[str]:
        """How the optimizers of a step are called in the recording."""
        return [
            self._optimizer_names.get(id(optimizer), str(getattr(optimizer, "name", "optimizer")))
            for optimizer in tap.optimizers
        ]

    def end(self) -> None:
        """What only the end shows."""
        recorder, batches = self.recorder, self.training.steps.batches
        for key, value in batches.facts().items():
            if value:
                recorder.fact(key, value)
        recorder.record_overhead()


def optimizer_facts(optimizer: Any) -> dict[str, Any]:
    """An optimizer and its numbers, in the form of one parameter group."""
    inner = getattr(optimizer, "inner_optimizer", optimizer)
    config = inner.get_config()
    name = type(inner).__name__
    group = {
        ours: float(config[theirs])
        for theirs, ours in _SETTINGS.items()
        if isinstance(config.get(theirs), int | float) and not isinstance(config.get(theirs), bool)
    }
    lr = config.get("learning_rate")
    rate = float(lr if isinstance(lr, int | float) else _initial_rate(inner))
    return {
        "class": _CLASSES.get(name, name),
        "name": str(optimizer.name),
        "groups": [{"lr": float(f"{rate:.7g}"), **group}],  # as it was written, not in single precision
        "parameters": 0,
        "elements": 0,
        "not_held": [],
    }


def _initial_rate(optimizer: Any) -> Any:
    """The first value of a schedule."""
    schedule = getattr(optimizer, "_learning_rate", None)
    if callable(schedule) and hasattr(schedule, "get_config"):
        return host(schedule(0))
    return host(getattr(optimizer.learning_rate, "value", optimizer.learning_rate))


def settings_of(models: list[dict[str, Any]], optimizers: list[dict[str, Any]]) -> dict[str, Any]:
    """Settings under their canonical names."""
    settings: dict[str, Any] = {}
    if optimizers:
        settings |= {"optimizer": optimizers[0]["class"]} | optimizers[0]["groups"][0]
    if models:
        settings["model"] = " + ".join(model["class"] for model in models)
        settings["model_parameters"] = sum(model["parameters"] for model in models)
        settings["trainable_parameters"] = sum(model["trainable"] for model in models)
    l2 = max((model["l2"] for model in models), default=0.0)
    if l2 and "weight_decay" not in settings:
        settings["weight_decay"] = 2 * l2  # as the gradient has it
    if len(models) == 1:
        if models[0]["layers"]:
            settings["layers"] = models[0]["layers"]
        rates = [rate for rate in models[0]["dropout"] if rate > 0]
        if len(rates) == 1:
            settings["dropout"] = rates[0]
    return settings
