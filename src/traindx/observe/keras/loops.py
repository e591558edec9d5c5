"""Steps that a script writes itself for TensorFlow: by `tf.GradientTape`, with and without `tf.function`.

A `tf.function` in whose trace an optimizer is applied is a training step, and gets twins as the train
function of a model does. Without `tf.function` a tap is open from one step of the optimizer to the next.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.observe.clock import perf_counter
from traindx.observe.keras import tap as taps
from traindx.observe.keras.tensors import draws_by_state, host
from traindx.observe.keras.twins import LOGS, OURS, Twin, Twins, busy

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

Original = Callable[..., Any]
_FIRST = 2


class Loops:
    """What replaces methods of TensorFlow."""

    def __init__(self, training: KerasTraining) -> None:
        self.training = training
        self._functions: weakref.WeakKeyDictionary[Any, FunctionSteps | None] = weakref.WeakKeyDictionary()
        self._began = perf_counter()

    def install(self, around: Callable[..., None]) -> None:
        import tensorflow
        from tensorflow.python.eager import record as record
        from tensorflow.python.eager.polymorphic_function import polymorphic_function

        around(tensorflow.GradientTape, "gradient", self._gradient)
        around(polymorphic_function.Function, "__call__", self._call_function)
        self._next()

    def _gradient(
        self, theirs: Original, tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any
    ) -> Any:
        # The tape stops recording here, so the tap is asked for by another way.
        tap = taps.opened()
        if tap is not None and not tap.listens:
            tap.guarded("losses", tap.saw_target, target, sources)
        return theirs(tape, target, sources, *args, **kwargs)

    # Traced loops.

    def _call_function(self, theirs: Original, function: Any, *args: Any, **kwargs: Any) -> Any:
        import tensorflow

        training = self.training
        if not training.active or busy() or not tensorflow.executing_eagerly():
            return theirs(function, *args, **kwargs)
        if function not in self._functions:
            self._functions[function] = None
            training.guard("steps", self._trace, function, args, kwargs)
        steps = self._functions[function]
        if steps is None:
            return theirs(function, *args, **kwargs)
        try:
            return steps.twins.run(lambda twin: theirs(twin, *args, **kwargs), steps.count)
        except Exception as error:
            if steps.twins.light.traces + steps.twins.full.traces:
                raise
            # Ours or the script's own mistake: the function itself shows which.
            self._functions[function] = None
            training.recorder.failed("steps", error)
            return theirs(function, *args, **kwargs)

    def _trace(self, function: Any, args: Any, kwargs: Any) -> None:
        """Trace it, as its first call would: does it train?"""
        with self.training.tap(False, listens=True) as tap:
            try:
                function.get_concrete_function(*args, **kwargs)
            except Exception:  # its own call will show why
                return
        if tap.optimizers:
            self._functions[function] = FunctionSteps(self.training, function, tap)

    # Loops without `tf.function`.

    def apply(
        self, call: Callable[[], Any], optimizer: Any, gradients: list[Any], variables: list[Any]
    ) -> Any:
        """An optimizer steps outside of any function."""
        tap = taps.opened()
        if tap is None or not tap.between:
            return call()
        training = self.training
        if optimizer not in tap.optimizers:
            training.guard("facts", training.facts.begins, tap.models(), [optimizer])
        result = tap.apply(optimizer, gradients, variables, call)
        if training.steps.leads(optimizer):
            out = tap.out()
            self._facts(tap, out)
            training.stepped(tap, out, self._began, traced=False)
            self._next()
        return result

    def _facts(self, tap: taps.Tap, out: dict[str, Any]) -> None:
        """Of the first steps; later ones are the same."""
        if self.training.recorder.step < _FIRST:
            self.training.guard("facts", self.training.facts.step, tap, out)

    def _next(self) -> None:
        """The next step begins now, if there is one."""
        self._began = perf_counter()
        taps.leave_open(self.training.tap(self.training.steps.full_next(), between=True))


class FunctionSteps:
    """A `tf.function` that trains, and its twins."""

    def __init__(self, training: KerasTraining, function: Any, tap: taps.Tap) -> None:
        self._optimizer = tap.optimizers[0]
        self._counted = self._iterations()
        training.guard("facts", training.facts.begins, tap.models(), tap.optimizers)
        light, full = (self._twin(training, function, sampled) for sampled in (False, True))
        self.twins = Twins(training, light, full, trusted=False)
        self.twins.trusted = not any(
            draws_by_state(concrete.graph) for concrete in function._list_all_concrete_functions()
        )

    def _twin(self, training: KerasTraining, function: Any, full: bool) -> Twin:
        from tensorflow import autograph
        from tensorflow.python.autograph.core import ag_ctx
        from tensorflow.python.autograph.impl import api

        step = function._python_function
        status = ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED)
        twin = Twin(step)

        @autograph.experimental.do_not_convert  # type: ignore[untyped-decorator]
        @functools.wraps(step)
        def tapped(*args: Any, **kwargs: Any) -> Any:
            converted = api.tf_convert(step, status) if function._autograph else step
            with training.tap(full, activations=not function._jit_compile) as tap:
                result = converted(*args, **kwargs)
            out = tap.out()
            twin.traced(tap)
            return {LOGS: result, OURS: out}

        twin.function = function._clone(tapped)
        return twin

    def count(self) -> int:
        """Steps of the optimizer in one call: a function may loop over many batches."""
        tap = self.twins.light.tap or self.twins.full.tap
        if tap is None or tap.scalar_names:
            return 1
        previous, self._counted = self._counted, self._iterations()
        return max(1, self._counted - previous)

    def _iterations(self) -> int:
        return int(host(self._optimizer.iterations.value))
