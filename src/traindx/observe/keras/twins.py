"""Train functions with a second sight: the same step built again, with numbers among its outputs.

The *light* twin also returns loss and learning rate, the *full* one small tensors of layers, weights and the
batch. Which one runs is chosen call by call, so that a sample costs something only in its own step.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from traindx.observe.clock import perf_counter
from traindx.observe.keras.tap import Tap

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_busy = threading.local()
LOGS, OURS = "logs", "traindx"
_STATEFUL = ("RandomUniform", "RandomStandardNormal", "TruncatedNormal", "RandomShuffle", "Multinomial")
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

    def traced(self, tap: Tap) -> None:
        self.tap = tap
        self.traces += 1


class TrainFunction:
    """Stands where `model.train_function` stood."""

    def __init__(
        self, training: KerasTraining, model: Any, plain: Callable[..., Any], light: Twin, full: Twin
    ) -> None:
        self.training = training
        self.model = model
        self.plain = plain
        self.light, self.full = light, full
        self._begun = False

    def __deepcopy__(self, memo: object) -> None:
        """A copy of a model makes a function of its own."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _nothing, ()

    def __call__(self, *args: Any) -> Any:
        training = self.training
        if not training.active:
            return self.plain(*args)
        if not self._begun:
            self._begun = True
            training.guard("facts", training.facts.begins, [self.model], [self.model.optimizer])
        sampled = training.steps.full_next()
        twin = self.full if sampled else self.light
        before, began = twin.traces, perf_counter()
        _busy.now = True
        try:
            found = twin.function(*args)
        except Exception as error:
            if before or type(error).__name__ in _ENDS:
                raise
            # Ours or the script's own mistake: the plain function shows which.
            training.recorder.failed("steps", error)
            training.active = False
            return self.plain(*args)
        finally:
            _busy.now = False
        state: tuple[Any, ...] = ()
        if isinstance(found, tuple):  # JAX: logs and state
            found, state = found[0], found[1:]
        traced = twin.traces > before
        if traced and twin.tap is not None:
            training.guard("facts", training.facts.losses, twin.tap)
        if twin.tap is not None:
            count = int(getattr(self.model, "steps_per_execution", 1) or 1)
            training.stepped(twin.tap, found[OURS], began, traced=traced, count=count)
        return (found[LOGS], *state) if state else found[LOGS]


def _nothing() -> None:
    """What a train function is in a pickled model: none."""


def train_function(
    training: KerasTraining, model: Any, build: Callable[[], Any], plain: Any
) -> TrainFunction:
    """Both twins of the function that `build` makes of `model.train_step`."""
    step = model.train_step

    def twin(full: bool) -> Twin:
        made = Twin(plain)

        @functools.wraps(step)
        def tapped(*args: Any) -> Any:
            with training.tap(full, activations=not _compiled(training, model)) as tap:
                logs = step(*args)
            made.traced(tap)
            if isinstance(logs, tuple):  # JAX: logs and state
                return {LOGS: logs[0], OURS: tap.out()}, *logs[1:]
            return {LOGS: logs, OURS: tap.out()}

        own = model.__dict__.get("train_step")
        object.__setattr__(model, "train_step", tapped)
        try:
            made.function = build()
        finally:
            if own is None:
                del model.__dict__["train_step"]
            else:
                object.__setattr__(model, "train_step", own)
        return made

    return TrainFunction(training, model, plain, twin(False), twin(True))


def _compiled(training: KerasTraining, model: Any) -> bool:
    """Under XLA, more outputs of layers change how operations are fused, and with it the last bits."""
    compiled = training.backend == "tensorflow" and bool(getattr(model, "jit_compile", False))
    if compiled:
        training.recorder.unseen(
            "activations", "the step is compiled by XLA, and sampling would change its last bits"
        )
    return compiled
