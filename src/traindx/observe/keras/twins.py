"""Instrumented train functions: the same step built again, with measurements among its outputs.

The *light* twin also returns loss and learning rate, the *full* one small tensors of layers, weights and the
batch. Which one runs is chosen call by call, so that a sample costs something only in its own step.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

from traindx.observe.clock import perf_counter
from traindx.observe.keras.tap import Tap
from traindx.observe.keras.tensors import draws_by_state

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_busy = threading.local()
LOGS, OURS = "logs", "traindx"
_ENDS = ("StopIteration", "OutOfRangeError", "StopAsyncIteration")


def busy() -> bool:
    """Whether a step that is counted already is under way in this thread."""
    return getattr(_busy, "now", False)


class Twin:
    """One of the two: its function, and the tap that was open when it was traced last."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.tap: Tap | None = None
        self.traces = 0
        self.draws = False

    def traced(self, tap: Tap) -> None:
        self.tap = tap
        self.traces += 1
        self.draws = self.draws or draws_by_state(tap.scope)


class Twins:
    """Both twins of a step. One whose random numbers come from its graph must always be the same one."""

    def __init__(self, training: KerasTraining, light: Twin, full: Twin, *, trusted: bool) -> None:
        self.training = training
        self.light, self.full = light, full
        # Whether it is known that no random number depends on which of them runs.
        self.trusted = trusted

    def run(self, call: Callable[[Callable[..., Any]], Any], count: Callable[[], int]) -> Any:
        """A step: `call` is given the function to call; `count` is asked for the number of steps it made."""
        training = self.training
        sampled = training.steps.full_next() if self.trusted else False
        twin = self.full if sampled else self.light
        traces_before, began = twin.traces, perf_counter()
        _busy.now = True
        try:
            result, out = split(call(twin.function))
        finally:
            _busy.now = False
        traced, tap = twin.traces > traces_before, twin.tap
        if tap is None:
            return result
        if traced:
            training.guard("facts", training.facts.step, tap, out)
            self._judge(twin)
            if tap.optimizers and not tap.scalar_names:
                why = "the optimizer steps inside a loop of a tf.function: steps are counted, no more is seen"
                training.recorder.unseen("loss", why)
        training.stepped(tap, out, began, traced=traced, count=count())
        return result

    def _judge(self, twin: Twin) -> None:
        if twin is self.light:
            self.trusted = not twin.draws
            if twin.draws:
                why = "the step draws random numbers by tf.random, and a second graph would draw others"
                self.training.recorder.unseen("layers", why)


def split(result: Any) -> tuple[Any, Any]:
    """What the script's own step returned, and what is ours."""
    if isinstance(result, tuple):  # JAX: logs and state
        return (result[0][LOGS], *result[1:]), result[0][OURS]
    return result[LOGS], result[OURS]


class TrainFunction:
    """Stands where `model.train_function` stood."""

    def __init__(self, twins: Twins, model: Any, plain: Callable[..., Any]) -> None:
        self.training = twins.training
        self.twins = twins
        self.model = model
        self.plain = plain
        self._has_begun = False

    def __deepcopy__(self, memo: object) -> None:
        """A copy of a model makes a function of its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()

    def __call__(self, *args: Any) -> Any:
        training = self.training
        if not training.active:
            return self.plain(*args)
        first = not self._has_begun
        if first:
            self._has_begun = True
            self._begin()
        try:
            return self.twins.run(lambda function: function(*args), self._count)
        except Exception as error:
            if not first or type(error).__name__ in _ENDS:
                raise
            # Ours or the script's own mistake: the plain function shows which.
            training.recorder.failed("steps", error)
            training.active = False
            return self.plain(*args)

    def _begin(self) -> None:
        training = self.training
        if training.backend != "jax":
            training.guard("facts", training.facts.begins, [self.model], [self.model.optimizer])
        if training.backend == "torch":
            training.guard("pytorch", _leave_to_keras)

    def _count(self) -> int:
        return int(getattr(self.model, "steps_per_execution", 1) or 1)


def _leave_to_keras() -> None:
    """The probes of PyTorch would count the same steps again."""
    torch: Any = sys.modules.get("traindx.observe.torch.install")
    if torch is not None and torch._installed is not None:
        torch._installed.close()


def _nothing() -> None:
    """What a train function is in a pickled model: none."""


def train_function(
    training: KerasTraining, model: Any, build: Callable[[], Any], plain: Any
) -> TrainFunction:
    """Both twins of the function that `build` makes of `model.train_step`."""
    step = model.train_step

    def run(full: bool) -> Twin:
        """PyTorch: nothing is traced, the step is looked up at each call."""
        new_twin = Twin(plain)

        def tapped(*args: Any) -> Any:
            with training.tap(full) as tap:
                logs = plain(*args)
            out = tap.out()
            tap.roots.insert(0, model)
            new_twin.tap, new_twin.traces = tap, 1
            return {LOGS: logs, OURS: out}

        new_twin.function = tapped
        return new_twin

    def twin(full: bool) -> Twin:
        new_twin = Twin(plain)

        @functools.wraps(step)
        def tapped(*args: Any) -> Any:
            unbuilt = training.backend == "tensorflow" and not model.built
            with training.tap(full, activations=not _compiled(training, model)) as tap:
                tap.guarded("waiting", tap.begins, args)
                logs = step(*args)
            out = tap.out()
            tap.roots.insert(0, model)
            new_twin.traced(tap)
            if unbuilt:
                training.guard("facts", _built_by_tracing, training, model)
            if isinstance(logs, tuple):  # JAX: logs and state
                return {LOGS: logs[0], OURS: out}, *logs[1:]
            return {LOGS: logs, OURS: out}

        own_step = model.__dict__.get("train_step")
        object.__setattr__(model, "train_step", tapped)
        try:
            new_twin.function = build()
        finally:
            if own_step is None:
                del model.__dict__["train_step"]
            else:
                object.__setattr__(model, "train_step", own_step)
        return new_twin

    def beside(light: Twin) -> Twin:
        """JAX: further results would change how the step is fused, and with it the last bits.

        So the first step of a call is also computed for its numbers alone, from the same state and batch.
        """
        import jax

        new_twin = Twin(plain)

        def looked(state: Any, data: Any) -> Any:
            with training.tap(True) as tap:
                step(state, data)
            tap.roots.insert(0, model)
            new_twin.traced(tap)
            return tap.out()

        look = jax.jit(looked)

        def sampled_call(state: Any, batches: Iterator[Any]) -> Any:
            first = next(batches)
            out = look(state, first)
            (ours, *state) = light.function(state, chain([first], batches))
            return ours | {OURS: out}, *state

        new_twin.function = sampled_call
        return new_twin

    if training.backend == "torch":
        return TrainFunction(Twins(training, run(False), run(True), trusted=True), model, plain)
    light = twin(False)
    if training.backend == "jax" and model.jit_compile and not model.run_eagerly:
        return TrainFunction(Twins(training, light, beside(light), trusted=True), model, plain)
    trusted = training.backend == "jax" or not _own_code(model)
    return TrainFunction(Twins(training, light, twin(True), trusted=trusted), model, plain)


def _built_by_tracing(training: KerasTraining, model: Any) -> None:
    """A model without an `Input` gets its weights in the trace of its first step, which has not run yet."""
    import tensorflow

    with tensorflow.init_scope():
        training.facts.begins([model], [model.optimizer])


def _own_code(model: Any) -> bool:
    """Whether a step runs code of the script's own: a train step, a layer, a loss."""
    own_parts = [part for part in (model, *model._flatten_layers()) if not _of_keras(type(part))]
    return bool(own_parts) or "train_step" in vars(model) or _is_own_function(getattr(model, "loss", None))


def _of_keras(kind: Any) -> bool:
    return str(kind.__module__).partition(".")[0] == "keras"


def _is_own_function(loss: Any) -> bool:
    return callable(loss) and not _of_keras(loss if hasattr(loss, "__module__") else type(loss))


def _compiled(training: KerasTraining, model: Any) -> bool:
    """Under XLA, more outputs of layers change how operations are fused, and with it the last bits."""
    compiled = training.backend == "tensorflow" and bool(getattr(model, "jit_compile", False))
    if compiled:
        training.recorder.unseen(
            "activations", "the step is compiled by XLA, and sampling would change its last bits"
        )
    return compiled
