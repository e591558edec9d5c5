"""Where methods of Keras are replaced: each calls the original, and does nothing unless a step is watched."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.observe.keras import tap as taps
from traindx.observe.keras.fits import Fits
from traindx.observe.keras.loops import Loops
from traindx.observe.keras.tensors import scope_of
from traindx.observe.keras.twins import TrainFunction, busy, train_function

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

Original = Callable[..., Any]


class KerasPatches:
    """All replacements of one watched process."""

    def __init__(self, training: KerasTraining, keras: Any) -> None:
        self.training = training
        self.keras = keras
        self.fits = Fits(training)
        self.loops = Loops(training)
        self._jax_step: Any = None
        self._evaluating = False

    def install(self) -> None:
        """Each place by itself: what this version of Keras lacks is left out, and the recording says so."""
        from keras.src.callbacks.callback_list import CallbackList
        from keras.src.optimizers.base_optimizer import BaseOptimizer
        from keras.src.optimizers.loss_scale_optimizer import LossScaleOptimizer
        from keras.src.trainers.trainer import Trainer

        keras = self.keras
        trainer = next(base for base in keras.Model.__mro__ if "make_train_function" in vars(base))
        places = (
            (trainer, "make_train_function", self._make_train_function),
            (trainer, "fit", self._fit),
            (trainer, "evaluate", self._evaluate),
            (Trainer, "compute_loss", self._compute_loss),
            (keras.layers.Layer, "__call__", self._call_layer),
            (keras.losses.Loss, "__call__", self._call_loss),
            (CallbackList, "on_train_begin", self._on_train_begin),
            (CallbackList, "on_epoch_end", self._on_epoch_end),
            *((optimizer, "apply", self._apply) for optimizer in (BaseOptimizer, LossScaleOptimizer)),
            *(
                (optimizer, "scale_loss", self._scale_loss)
                for optimizer in (BaseOptimizer, LossScaleOptimizer)
            ),
        )
        for owner, name, ours in places:
            self.training.guard(name, self.around, owner, name, ours)
        if self.training.backend == "tensorflow":
            self.training.guard("loops", self.loops.install, self.around)
        if self.training.backend == "jax":
            self.training.guard("steps", self.around, trainer, "compute_loss_and_updates", self._jax_gradient)
            self.training.guard("steps", self.around, trainer, "_update_metrics_variables", self._jax_metrics)
            self._jax_step = vars(trainer)["train_step"]

    def around(self, owner: Any, name: str, ours: Callable[..., Any]) -> None:
        theirs = vars(owner)[name]

        @functools.wraps(theirs)
        def patched(self: Any, *args: Any, **kwargs: Any) -> Any:
            return ours(theirs, self, *args, **kwargs)

        setattr(owner, name, patched)
        self.training.removals.append(lambda: setattr(owner, name, theirs))

    # KerasSteps.

    def _make_train_function(self, theirs: Original, model: Any, force: bool = False) -> Any:
        existing = model.train_function
        if not self.training.active or (existing is not None and not force):
            return theirs(model, force)
        if isinstance(existing, TrainFunction):
            model.train_function = None
        theirs(model, force)
        plain = model.train_function

        def build() -> Any:
            theirs(model, True)
            return model.train_function

        def replace() -> None:
            model.train_function = train_function(self.training, model, build, plain)

        if self.training.backend == "torch" and model._should_torch_compile():
            why = "the step is compiled by torch.compile: nothing is hooked inside of it"
            self.training.recorder.unseen("steps", why)
            return plain
        if self.training.backend == "jax" and model.built and model.optimizer is not None:
            # While it trains, the model does not hold its weights.
            self.training.guard("facts", self.training.facts.begins, [model], [model.optimizer])
        self.training.guard("steps", replace)
        if not isinstance(model.train_function, TrainFunction):
            model.train_function = plain
        return model.train_function

    def _apply(self, theirs: Original, optimizer: Any, grads: Any, trainable_variables: Any = None) -> Any:
        tap = taps.opened()
        if tap is None or (tap.between and not self._runs_as_written()):
            return theirs(optimizer, grads, trainable_variables)
        gradients = list(grads)
        variables = (
            optimizer._trainable_variables if trainable_variables is None else list(trainable_variables)
        )
        argument = None if trainable_variables is None else variables
        step = self.loops.apply if tap.between else _apply_in
        return step(lambda: theirs(optimizer, gradients, argument), optimizer, gradients, list(variables))

    def _runs_as_written(self) -> bool:
        """Whether no graph is being traced, and nobody counts this step already."""
        return self.training.active and not busy() and scope_of() is None

    def _scale_loss(self, theirs: Original, optimizer: Any, loss: Any) -> Any:
        tap = taps.current()
        if tap is not None:
            tap.saw_loss(loss, unscaled=True)
        return theirs(optimizer, loss)

    def _compute_loss(self, theirs: Original, trainer: Any, *args: Any, **kwargs: Any) -> Any:
        loss = theirs(trainer, *args, **kwargs)
        tap = taps.current()
        if tap is not None:
            tap.saw_loss(loss)
        return loss

    def _call_layer(self, theirs: Original, layer: Any, *args: Any, **kwargs: Any) -> Any:
        tap, mode = taps.current(), kwargs.get("training")
        if self._evaluating and mode is True and hasattr(layer, "test_step"):
            self._evaluating = False  # told once for each evaluation
            text = "validation batches ran in training mode"
            self.training.recorder.event("validated_in_train_mode", text)
        if tap is None:
            return theirs(layer, *args, **kwargs)
        return tap.call_layer(lambda: theirs(layer, *args, **kwargs), layer, args[:1] or kwargs, mode)

    def _call_loss(self, theirs: Original, loss: Any, *args: Any, **kwargs: Any) -> Any:
        value = theirs(loss, *args, **kwargs)
        tap = taps.current()
        if tap is not None and type(loss).__name__ != "CompileLoss":
            arguments = dict(zip(("y_true", "y_pred"), args, strict=False)) | kwargs
            compared = arguments.get("y_true"), arguments.get("y_pred")
            tap.guarded("losses", tap.saw_loss_call, loss, *compared, value)
        return value

    # JAX: from where the gradient is taken only its result leaves.

    def _jax_gradient(self, theirs: Original, model: Any, *args: Any, **kwargs: Any) -> Any:
        tap = taps.current()
        if tap is None or not tap.full or type(model).train_step is not self._jax_step:
            return theirs(model, *args, **kwargs)
        tap.inside_gradient = True
        loss, (unscaled, y_pred, *state) = theirs(model, *args, **kwargs)
        return loss, (unscaled, (y_pred, tap.leave_gradient()), *state)

    def _jax_metrics(
        self, theirs: Original, model: Any, variables: Any, loss: Any, x: Any, y: Any, y_pred: Any, *rest: Any
    ) -> Any:
        tap = taps.current()
        if tap is not None:
            y_pred, gathered = y_pred if tap.carries else (y_pred, ())
            tap.guarded("batches", tap.saw_step, loss, x, y, y_pred, gathered)
        return theirs(model, variables, loss, x, y, y_pred, *rest)

    # `fit` and what it reports.

    def _fit(self, theirs: Original, model: Any, *args: Any, **kwargs: Any) -> Any:
        if self.training.active:
            self.training.guard("facts", self.training.steps.model_begins, model)
            self.training.guard("facts", lambda: self.fits.begins(_arguments(theirs, model, args, kwargs)))
        return theirs(model, *args, **kwargs)

    def _evaluate(self, theirs: Original, model: Any, *args: Any, **kwargs: Any) -> Any:
        self.training.steps.paused()
        self._evaluating = self.training.active
        try:
            return theirs(model, *args, **kwargs)
        finally:
            self._evaluating = False
            self.training.steps.paused()

    def _on_train_begin(self, theirs: Original, callbacks: Any, *args: Any, **kwargs: Any) -> Any:
        if self.training.active:
            self.training.guard("facts", self.fits.trains, list(callbacks.callbacks))
        return theirs(callbacks, *args, **kwargs)

    def _on_epoch_end(self, theirs: Original, callbacks: Any, epoch: int, logs: Any = None) -> Any:
        if self.training.active:
            self.training.guard("epochs", self.fits.epoch, dict(logs or {}))
        return theirs(callbacks, epoch, logs)


def _apply_in(call: Callable[[], Any], optimizer: Any, gradients: list[Any], variables: list[Any]) -> Any:
    """In a step that is traced, or run under a tap of its own."""
    tap = taps.opened()
    return call() if tap is None else tap.apply(optimizer, gradients, variables, call)


def _arguments(
    function: Original, model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    bound = inspect.signature(function).bind(model, *args, **kwargs)
    bound.apply_defaults()
    return dict(bound.arguments)
