"""One watched process: the clock, its probes, and how they are switched off."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable
from threading import get_ident
from typing import Any

import torch

from traindx.observe.process_memory import resident_bytes
from traindx.observe.recorder import Recorder, Stopped
from traindx.observe.signals import let_through
from traindx.observe.torch import replicas
from traindx.observe.torch.constructed import ConstructedOptimizers
from traindx.observe.torch.fast_path import Quick
from traindx.observe.torch.first_nonfinite import Origins
from traindx.observe.torch.gradient_norms import global_norm
from traindx.observe.torch.listeners import RecorderListeners
from traindx.observe.torch.loss_calls import LossCalls
from traindx.observe.torch.naming import Names, variable_name
from traindx.observe.torch.nonfinite_stop import NonfiniteStop
from traindx.observe.torch.optimizer_state import Hidden, TrackedOptimizer
from traindx.observe.torch.places import backward
from traindx.observe.torch.restoring import Restoring
from traindx.observe.torch.roots import optimizer_parameters
from traindx.observe.torch.sampled_steps import StepSampler
from traindx.observe.torch.scalars import Row, exact_norm, scalar, settle
from traindx.observe.torch.scaling import LossScaling
from traindx.observe.torch.steps import Steps
from traindx.observe.torch.train_modes import TrainingMode
from traindx.observe.torch.training_facts import TrainingFacts
from traindx.observe.torch.validation import Validation

# Memory is read often at first: a short training that leaks shows it too.
_MEMORY_EVERY, _MEMORY_FIRST, _MEMORY_VALUES = 1.0, 0.05, 200
_SURELY_HIDDEN = 8


def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


class Watching:
    """What the patches report to, guarded: a probe that fails is off, the training continues."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.active = True
        self.closed = False
        self.functional = False
        self.compiled = False
        self.batch: Any = None
        self.removals: list[Callable[[], object]] = []
        self.constructed = ConstructedOptimizers(self)
        self.schedulers: dict[int, weakref.ref[Any]] = {}
        self.names = Names()
        self.facts = TrainingFacts(self)
        self.modes = TrainingMode(self)
        self.origins = Origins(self)
        self.scaling = LossScaling(self)
        self.restoring = Restoring(self)
        self.losses = LossCalls(self)
        self.validation = Validation(self)
        self.sampler = StepSampler(self)
        self.steps = Steps(self)
        self.listeners = RecorderListeners(self)
        self._call: Callable[..., Any] = _call
        self._memory_read = -math.inf
        self._memory_every = _MEMORY_FIRST
        self.nonfinite_stop = NonfiniteStop(self) if recorder.stop_on_critical else None
        recorder.before_flush += [self._settle_steps, settle]
        if self.nonfinite_stop is not None:
            recorder.before_flush.append(self.nonfinite_stop.numbers_arrived)

    def guard(self, probe: str, function: Callable[..., object], *args: Any, **kwargs: Any) -> None:
        """Call a probe unless it is off; switch it off if it fails."""
        if probe in self.recorder.off:
            return
        graded = torch.is_grad_enabled()
        try:
            self._call(function, *args, **kwargs)
        except BaseException as error:
            # A signal may come between any two lines, also where `no_grad` begins or ends.
            torch._C._set_grad_enabled(graded)
            if not isinstance(error, Exception):
                raise
            self.recorder.failed(probe, error)

    def report(self, listener: Callable[[Any], None], argument: Any) -> None:
        """An event of the clock; without the clock there is nothing left to record."""
        try:
            self._call(listener, argument) if self.compiled else listener(argument)
        except Exception as error:
            self.stop_counting(error)

    def check_stop(self) -> None:
        """At the start of a backward call: raises `Stopped` when the training is to end before it."""
        try:
            self._call(self.recorder.check_stop) if self.compiled else self.recorder.check_stop()
        except Stopped:
            self.steps.keep_losses(0)
            raise

    def stop_counting(self, error: Exception) -> None:
        """The clock itself failed: only what the script prints is recorded from now on."""
        let_through(error)
        self.recorder.failed("steps", error)
        self.active = False
        self.steps.quick.off()
        self.sampler.finish_forward()

    def _settle_steps(self, rows: list[Row]) -> None:
        """What is written holds every step so far: nothing of it may be left should the process be killed."""
        del rows
        if self.active:
            self.steps.quick.settle()

    def mine(self) -> bool:
        """Whether this thread is the one that trains."""
        return self.steps.thread == get_ident() or bool(self._call(self.steps.adopt))

    @property
    def sampling(self) -> bool:
        """Whether this step is sampled."""
        return self.sampler.sampling

    # Optimizers.

    def optimizer_name(self, optimizer: torch.optim.Optimizer, number: int) -> str:
        """What the script calls it."""
        return variable_name(optimizer) or (type(optimizer).__name__ + (str(number) if number else ""))

    def new_optimizer(
        self, optimizer: torch.optim.Optimizer, entry: TrackedOptimizer, is_new_training: bool
    ) -> None:
        """Its first step is about to be taken: the weights are still as they were initialised.

        `another`: a training of its own begins with it.
        """
        self.constructed.add(optimizer)
        if is_new_training:
            self.guard("facts", self.facts.restart, optimizer)
        self.guard("facts", self.facts.optimizer, optimizer, entry)

    def lead_changed(self, entry: TrackedOptimizer, is_new_training: bool) -> None:
        """Another optimizer trains now, on the same model or as a training of its own."""
        self.modes.forget()
        if is_new_training:
            self.steps.rows.finish()
            self.steps.accumulation.restart()
            self.recorder.event("new_training", f"{entry.name} trains another model; steps are counted anew")
            self.recorder.restart()
            self.restoring.restarted()
        else:
            self.recorder.event("optimizer_changed", f"{entry.name} trains now")

    def find_hidden(self, losses: int) -> Hidden | None:
        """Losses but no steps, and something was compiled: the optimizer steps where no hook is called."""
        optimizers = self.constructed.alive()
        if len(optimizers) != 1 or self.steps.optimizers.entries:
            return None
        hidden = Hidden(optimizers[0])
        if hidden.counted() is None and losses < _SURELY_HIDDEN:
            return None
        self.recorder.unseen(
            "optimizer steps", "the optimizer steps inside torch.compile: steps are counted from outside"
        )
        return hidden

    def lead(self) -> torch.optim.Optimizer | None:
        """The optimizer whose steps are counted; before the first step, the only one there is."""
        lead, optimizers = self.steps.optimizers.lead, self.constructed.alive()
        if lead is None:
            return optimizers[0] if len(optimizers) == 1 else None
        return lead.ref()

    def holds_gradients(self) -> bool:
        """Whether any parameter has a gradient from before; True where that is not known."""
        optimizers = self.constructed.alive()
        if self.compiled or not optimizers:
            return True
        return any(
            parameter.grad is not None
            for optimizer in optimizers
            for parameter in optimizer_parameters(optimizer)
        )

    def gradient_norm(self, optimizer: torch.optim.Optimizer) -> torch.Tensor | None:
        norm = global_norm(optimizer_parameters(optimizer))
        if norm is not None and norm.is_cpu and not math.isfinite(norm.item()):
            # Squares of large but finite gradients overflow in single precision.
            norm = exact_norm(optimizer_parameters(optimizer))
        scale = getattr(optimizer, "grad_scale", None)
        return norm / scale if norm is not None and isinstance(scale, torch.Tensor) else norm

    # Steps.

    def step_done(self, row: Row, seconds: float, now: float) -> None:
        norm = row.get("grad_norm")
        if isinstance(norm, float) and not math.isfinite(norm):
            self.guard("origin", self.origins.gradients, norm, row.get("loss"), self.recorder.step)
        if self.nonfinite_stop is not None:
            self.guard("stop", self.nonfinite_stop.step_done, row)
        self.restoring.step_done()
        if now - self._memory_read >= self._memory_every:
            self._memory_read = now
            spread = self.recorder.now() / _MEMORY_VALUES
            self._memory_every = min(_MEMORY_EVERY, max(_MEMORY_FIRST, spread))
            self.guard("memory", _memory, row)
        if self.facts.world > 1 and replicas.due(self.recorder.step):
            self.guard("replicas", self._checksum)
        if self.sampling:
            self.sampler.done(seconds)

    def _checksum(self) -> None:
        """The same number on every rank whose weights are the same."""
        optimizer = self.lead()
        value = replicas.checksum(optimizer_parameters(optimizer)) if optimizer is not None else None
        if value is not None:
            self.recorder.row({"replica_checksum": value})

    def clipped(self, norm: Any, limit: float) -> None:
        """Gradients were clipped to a norm."""
        if not isinstance(norm, torch.Tensor):
            return
        self.recorder.setting("clip", float(limit))
        scale = self.steps.loss_scale
        if scale not in (None, 1.0) and not self.scaling.unscaled_gradients:
            self.recorder.event("clip_before_unscale", f"gradients were clipped while scaled by {scale:g}")
        value = scalar(norm) if scale is None and len(self.constructed.alive()) == 1 else None
        if isinstance(value, float) and not math.isfinite(value):
            # Clipping is about to spread it to every gradient.
            coming = self.recorder.step + 1
            self.guard("origin", self.origins.gradients, value, self.steps.last_loss(), coming)
        self.steps.quick.leave()
        self.steps.quick.limit = float(limit)
        self.steps.clips.append((norm.detach(), float(limit)))

    def clipped_by_value(self, limit: float) -> None:
        self.recorder.fact("clipping", {"by": "value", "limit": float(limit)})

    # What is out of sight.

    def compiles(self, *_: Any, **__: Any) -> None:
        """A hook inside compiled code would break its graph: activations stay unseen from now on."""
        import torch._dynamo

        self.compiled = True
        self.steps.quick.off()
        # Backward is never compiled; what we do around it must not be tried either.
        for function in (
            backward.engine,
            Quick.backward,
            Quick.backward_ends,
            RecorderListeners.backward,
            RecorderListeners.backward_ends,
            RecorderListeners._trains,
            Watching.guard,
            Watching.report,
            Watching.mine,
            Watching.check_stop,
        ):
            torch._dynamo.decorators.skip(function)
        self._call = torch._dynamo.disable(_call)  # type: ignore[no-untyped-call]
        self.sampler.forward = False
        self.sampler.finish_forward()
        self.recorder.unseen("activations", "torch.compile is in use: nothing is hooked inside compiled code")

    def close(self) -> None:
        """What is still open is written; nothing is watched any more."""
        if self.closed:
            return
        self.closed, self.active, self.batch = True, False, None
        self.guard("steps", self.steps.close)
        self.guard("losses", self.validation.commit, training=False)
        self.guard("facts", self.facts.end)
        self.guard("activations", self.sampler.record_last_histograms)
        self.guard("layers", self.sampler.report_untrained)
        self.sampler.finish_forward()
        for remove in self.removals:
            remove()
        self.removals.clear()


def _memory(row: Row) -> None:
    resident = resident_bytes()
    if resident is not None:
        row["rss_bytes"] = resident
    for device in (torch.cuda, getattr(torch, "xpu", None)):
        if device is not None and device.is_initialized() and device.is_available():
            row["gpu_mem_bytes"] = int(device.memory_allocated())
