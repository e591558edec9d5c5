"""What the recorder does at the events of the bus, where a step is not an ordinary one (`fast_path.py`)."""

from __future__ import annotations

import functools
import logging
import weakref
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import graph

from traindx.observe.clock import perf_counter
from traindx.observe.torch.optimizer_state import has_closure

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

Args = tuple[Any, ...]
Kwargs = dict[str, Any]


class RecorderListeners:
    """Passes each event to its probe, guarded; events of other threads than the first are ignored."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching

    def by_event(self) -> Iterator[tuple[str, Callable[..., Any]]]:
        """What the recorder listens to, by event."""
        watching, quick = self.watching, self.watching.steps.quick
        scaling, restoring = watching.scaling, watching.restoring
        yield "step_begins", quick.step_begins
        yield "step_ends", quick.step_ends
        yield "optimizer_begun", self._optimizer_begun
        yield "scheduler_made", self._scheduler_made
        yield "backward", quick.backward
        yield "loss_computed", quick.loss_computed
        yield "clip_norm", quick.clipped
        for place in ("utils", "clip_grad"):
            yield f"function:{place}.clip_grad_value_", self._clip_value
        yield "scale", self._guarded("scaling", scaling.scaled)
        yield "unscale", scaling.unscales
        yield "scaler_step", scaling.step
        yield "file_loaded", self._guarded("restoring", restoring.file_read)
        yield "model_loaded", self._guarded("restoring", restoring.model_loaded)
        yield "optimizer_loaded", restoring.optimizer_loaded
        yield "fetch", self._fetch
        yield "pass_begins", self._pass_begins
        yield "mode", self._mode
        yield "compile", self._guarded("compile", watching.compiles)
        yield "transform", self._transform

    def _guarded(self, probe: str, call: Callable[..., object]) -> Callable[..., None]:
        def guarded(*args: Any, **kwargs: Any) -> None:
            if self.watching.active:
                self.watching.guard(probe, call, *args, **kwargs)

        return guarded

    # Steps.

    def loss_computed(self, name: str, args: Args, kwargs: Kwargs, result: Any) -> None:
        watching = self.watching
        if (
            watching.active
            and type(result) is torch.Tensor
            and not watching.steps.depth
            and not torch.compiler.is_compiling()
        ):
            watching.guard("losses", watching.losses.saw, name, args, kwargs, result)

    def backward(self, tensors: Any, args: Args, kwargs: Kwargs) -> Callable[[Any], None] | None:
        """Not those from inside the autograd engine itself (checkpoints)."""
        watching, steps = self.watching, self.watching.steps
        if graph.log.isEnabledFor(logging.DEBUG):
            return None
        accumulates = bool(kwargs.get("accumulate_grad", True))
        ours = watching.active and not steps.depth and not torch.compiler.is_compiling()
        if not (ours and (accumulates or self._trains(args)) and watching.mine()):
            return None
        steps.accumulates = accumulates
        if not steps.optimizers.entries and steps.hidden is None:
            watching.report(steps.by_hand.begins, (tensors, *args))
        watching.report(steps.backward_begins, tensors)
        if watching.recorder.stops:
            watching.check_stop()
        steps.depth += 1
        return functools.partial(self.backward_ends, accumulates)

    def backward_ends(self, accumulates: bool, result: Any) -> None:
        watching, steps = self.watching, self.watching.steps
        steps.depth -= 1
        if not steps.optimizers.entries and steps.by_hand.sampled:
            watching.guard("layers", steps.by_hand.sample_gradients, result)
        watching.report(steps.backward_ends, accumulates)

    def _trains(self, args: Args) -> bool:
        """Whether `autograd.grad` was asked for gradients of parameters, to be applied by hand.

        Gradients of inputs (an attack, a penalty) and those to be differentiated again are no step.
        """
        steps = self.watching.steps
        kind = torch.nn.Parameter if steps.built or steps.by_hand.modules else torch.Tensor
        differentiated_again = len(args) > 2 and bool(args[2])
        inputs = args[3] if len(args) > 3 else ()
        listed = inputs if isinstance(inputs, tuple | list) else (inputs,)
        return not differentiated_again and any(
            isinstance(tensor, kind) and tensor.is_leaf for tensor in listed
        )

    def step_begins(self, optimizer: Any, args: Args, kwargs: Kwargs) -> None:
        watching, steps = self.watching, self.watching.steps
        if torch.compiler.is_compiling() or not watching.active:
            return
        if not (steps.depth or watching.mine()):
            watching.constructed.elsewhere.add(id(optimizer))
            return
        try:
            steps.step_begins(optimizer, has_closure(args, kwargs))
        except Exception as error:
            watching.stop_counting(error)

    def step_ends(self, optimizer: Any, args: Args, kwargs: Kwargs) -> None:
        watching, steps = self.watching, self.watching.steps
        if torch.compiler.is_compiling() or not watching.active or not (steps.depth or watching.mine()):
            return
        try:
            steps.step_ends(optimizer, has_closure(args, kwargs))
        except Exception as error:
            watching.stop_counting(error)
        if not steps.depth:
            watching.recorder.check_stop()

    def _optimizer_begun(self, optimizer: Any) -> None:
        # A copy or an unpickled one has its groups already: it counts once it steps.
        if self.watching.active and "param_groups" not in vars(optimizer):
            self.watching.constructed.add(optimizer)

    def _scheduler_made(self, scheduler: Any, *_: Any, **__: Any) -> None:
        if self.watching.active:
            self.watching.schedulers[id(scheduler)] = weakref.ref(scheduler)

    def _clip_value(
        self, original: Callable[..., Any], parameters: Any, clip_value: float, *args: Any, **kwargs: Any
    ) -> Any:
        if self.watching.active:
            self.watching.guard("clipping", self.watching.clipped_by_value, clip_value)
        return original(parameters, clip_value, *args, **kwargs)

    # Data.

    def _fetch(self, iterator: Any) -> Callable[[Any, BaseException | None], None] | None:
        """How long the loop waits for a batch."""
        watching = self.watching
        if not watching.active or not watching.mine():
            return None
        # Not held while the next one is fetched: one batch more in memory might be one too many.
        watching.batch = None
        return functools.partial(self._fetched, iterator, perf_counter(), torch.is_grad_enabled())

    def _fetched(
        self, iterator: Any, began: float, training: bool, batch: Any, error: BaseException | None
    ) -> None:
        watching, steps, sampler = self.watching, self.watching.steps, self.watching.sampler
        samples, key = sampler.samples, id(getattr(iterator, "_index_sampler", iterator))
        if error is None:
            watching.batch = batch
            first = samples.roles.first(key)
            role = samples.roles.trains(key, self._progress()) if training else False
            steps.accumulation.fetched += role is not False
            if not training or role is False:
                watching.guard("evaluations", sampler.evaluations.wait, loaded=True)
            if not watching.recorder.internals:
                pass
            elif role is None and first and watching.modes.training() is not False:
                watching.guard("samples", samples.loaded_first, batch, key)
            elif role is False or (role and samples.load_due()):
                watching.guard("samples", samples.loaded, batch, key, training=role)
        elif isinstance(error, StopIteration):
            if not samples.roles.ends(key, self._progress()):
                watching.guard("samples", samples.not_trained, key)
            watching.guard("loading", watching.recorder.tick)
        steps.waited(began, perf_counter(), training=training)

    def _progress(self) -> tuple[float, int]:
        """Changes with every backward pass."""
        return self.watching.recorder.step, self.watching.steps.backwards

    def _pass_begins(self, loader: Any, _: Any, began: float) -> None:
        watching = self.watching
        if not watching.active:
            return
        key = id(getattr(loader, "_index_sampler", loader))
        watching.sampler.samples.roles.begins(key, self._progress())
        watching.guard("facts", watching.facts.loader, loader)
        if not torch.is_grad_enabled():
            watching.guard("modes", watching.modes.evaluates)
        if watching.mine():
            watching.steps.waited(began, perf_counter(), training=torch.is_grad_enabled())

    # Modes, and where Python is not run as written.

    def _mode(self, module: torch.nn.Module, mode: bool = True) -> None:
        if not mode and self.watching.active:
            self.watching.modes.switched(module)

    def _transform(self, *_: Any, **__: Any) -> None:
        if not torch.compiler.is_compiling():
            self.watching.functional = True
