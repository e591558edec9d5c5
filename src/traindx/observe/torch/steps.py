"""The steps of a training: what `backward` was called on, when, and what each optimizer step took.

A step ends when the leading optimizer has stepped. Several optimizers that share one loss make one row;
where each has a loss of its own (a GAN), the rows hold `loss/<optimizer>`. How steps are counted without a
torch optimizer stands in `by_hand.py`.
"""

from __future__ import annotations

import math
from threading import get_ident
from typing import TYPE_CHECKING, Any

import torch

from traindx.observe.budget import UNDERCOUNT
from traindx.observe.clock import perf_counter
from traindx.observe.torch.accumulating import AccumulationCounts
from traindx.observe.torch.by_hand import ByHand
from traindx.observe.torch.fast_path import ALL_ROWS, Quick
from traindx.observe.torch.left_gradients import LeftGradients
from traindx.observe.torch.loss_leaps import LossLeaps
from traindx.observe.torch.optimizer_state import Hidden, Optimizers, TrackedOptimizer
from traindx.observe.torch.scalars import Row, limited, scalar, together
from traindx.observe.torch.shared_rows import SharedRows

if TYPE_CHECKING:
    from traindx.observe.torch.process import Watching

_ALL_NORMS = 200
_SLOWED = 0.02
_FIRST_NORMS = 0.1


class Steps:
    """The clock of one training, driven by the patches; `watching` holds its probes."""

    def __init__(self, watching: Watching) -> None:
        self.watching = watching
        self.recorder = watching.recorder
        self.optimizers = Optimizers(watching)
        self.built = 0
        self.depth = 0
        self.accumulates = True
        self.backwards = 0
        self.skipped = 0
        self.loss_scale: float | None = None
        self.loss_share = 1.0
        self.clips: list[tuple[torch.Tensor, float]] = []
        self.grad_fn: Any = None
        self.hidden: Hidden | None = None
        self.thread = 0
        self._losses: list[float | torch.Tensor] = []
        self._norms: list[torch.Tensor] = []
        self._inside = self.stepped_inside = False
        # Whether the step before was clipped by norm: then its norm costs nothing.
        self.clips_norms = False
        self._last_row = 0
        self.rows = SharedRows(watching)
        self.accumulation = AccumulationCounts(watching)
        self.by_hand = ByHand(self)
        self.leaps = LossLeaps(watching)
        self.left_gradients = LeftGradients(watching)
        self._norm_due = True
        self.quick = Quick(self)
        self.own_seconds = 0.0
        self._entered = 0.0
        self._began = self._mark = perf_counter()
        # What came before the first step is no part of it.
        self._broken = True
        self._closure: tuple[float, float] | None = None
        self._wait = self._forward = self._backward = self._optimizer = 0.0

    # Phases.

    def adopt(self) -> bool:
        """The first thread that trains is watched: two trainings at once cannot share a clock."""
        if not self.thread:
            self.thread = get_ident()
        if self.thread == get_ident():
            return True
        self.recorder.unseen("training in other threads", "only the first thread that trained is recorded")
        return False

    def waited(self, began: float, end: float, *, training: bool) -> None:
        """The loop waited for a batch."""
        if training:
            self._wait += end - began
            if self._broken:
                self._began = began
        self._mark = end

    def paused(self) -> None:
        """Something other than a step happened (validation): the time so far does not belong to this step."""
        self._broken = True
        self._mark = perf_counter()

    def backward_begins(self, tensors: Any) -> None:
        began = perf_counter()
        self.quick.leave()
        self._forward += began - self._mark
        self.watching.validation.commit(training=True)
        waiting = self._losses and self._closure is None and self.hidden is None
        if waiting and not self.watching.holds_gradients():
            # A step that never came: its gradients were thrown away.
            self.accumulation.thrown += len(self._losses)
            self._losses = []
        if self.watching.compiled and self.hidden is None and self._losses:
            self.hidden = self.watching.find_hidden(len(self._losses))
        if self.hidden is not None and self._losses and self.hidden.stepped():
            self._entered = began
            self._finish(self.optimizers.entry_of(self.hidden.optimizer))
        self._take_loss(tensors)
        if self.left_gradients.following:
            self.watching.guard("stale gradients", self.left_gradients.backward_begins)
        if self._closure is not None and self.watching.facts.awaits_graph:
            self.watching.guard("facts", self.watching.facts.graph_in_closure)
        self._mark = perf_counter()
        self.own_seconds += self._mark - began

    def backward_ends(self, accumulates: bool) -> None:
        self._entered = now = perf_counter()
        self._backward += now - self._mark
        self._mark = now
        if self.left_gradients.following:
            self.watching.guard("stale gradients", self.left_gradients.backward_ends)
            self._mark = perf_counter()
            self.own_seconds += self._mark - now
        if self._inside:
            self._inside = False
            self._finish(self.optimizers.lead)
        elif self.hidden is not None:
            if self._norm_due and not self.clips:
                self._norms = []
                self._read_norm(self.hidden.optimizer)
        elif not self.optimizers.entries and (accumulates or self._losses) and self.by_hand.ends():
            self._finish(None)

    def step_begins(self, optimizer: torch.optim.Optimizer, closure: bool) -> None:
        began = perf_counter()
        self.quick.leave()
        self.hidden = None
        self.watching.scaling.stepping(optimizer)
        if self._closure is not None:
            # A closure that raised: its step never ended, and what it computed is not this step's.
            self._closure, self._losses = None, self._losses[-1:]
        self.optimizers.entry_of(optimizer)
        self.own_seconds += perf_counter() - began
        if self.watching.sampling:
            self.watching.sampler.before(optimizer, closure)
        if not closure and not self.clips and (self._norm_due or self.watching.sampling):
            self._read_norm(optimizer)
        self._mark = perf_counter()
        if closure:
            self._closure = (self._mark, self._wait + self._forward + self._backward)

    def step_ends(self, optimizer: torch.optim.Optimizer, closure: bool) -> None:
        self._entered = began = perf_counter()
        self.quick.leave()
        self.quick.settle()
        if self._closure is not None:
            entered, spent_before = self._closure
            inside = self._wait + self._forward + self._backward - spent_before
            self._optimizer += max(0.0, began - entered - inside)
        elif not self.depth:
            self._optimizer += began - self._mark
        entry = self.optimizers.entry_of(optimizer)
        entry.count += 1
        if not entry.clearing_known and self.left_gradients.due():
            self.watching.guard("stale gradients", self.left_gradients.step_ends, optimizer, entry)
        if closure and self._norm_due and not self.clips:
            self._read_norm(optimizer)
        if self.watching.sampling:
            self.watching.sampler.after(optimizer, closure)
        if self.loss_scale is not None and _overflowed(optimizer):
            self.skipped_step(optimizer)
        elif self.depth:
            # The optimizer steps inside backward, mostly one for each parameter: the step ends with it.
            self._inside = self.stepped_inside = True
            self.optimizers.lead = self.optimizers.lead or entry
        elif self.optimizers.follow(entry):
            self._finish(entry)
        else:
            gradients: Row = {}
            self._gradients(gradients)
            self.rows.join(entry, self._loss(), gradients)
            self._mark = perf_counter()
            self.own_seconds += self._mark - began

    def skipped_step(self, optimizer: torch.optim.Optimizer) -> None:
        """A `GradScaler` found an overflow: the optimizer was not called, the loop continued."""
        self.skipped += 1
        self._entered = perf_counter()
        entry = self.optimizers.entry_of(optimizer)
        self.recorder.event(
            "overflow", f"gradients overflowed at loss scale {self.loss_scale:g}; step skipped"
        )
        if self.watching.sampling:
            self.watching.sampler.abandon()
        if self.optimizers.lead in (None, entry):
            # Overflowing now and then is how the scale is found: no gradient of this step was used.
            self.clips, self._norms = [], []
            self._finish(entry, counts=False)

    # What goes into the row.

    def _take_loss(self, tensors: Any) -> None:
        listed = tensors if isinstance(tensors, tuple | list) else (tensors,)
        loss: float | torch.Tensor | None = None
        for tensor in listed:
            number = scalar(self.watching.scaling.unscaled(tensor))
            if number is not None:
                loss = number if loss is None else loss + number
        if loss is None:
            return
        self.backwards += 1
        self.grad_fn = getattr(listed[0], "grad_fn", None)
        self._losses.append(loss)
        if isinstance(loss, float) and not math.isfinite(loss):
            self.watching.guard("origin", self.watching.origins.loss, loss, listed[0])
            if self.watching.nonfinite_stop is not None:
                # The rows of quick steps wait for others; this one may have to stop the training.
                self.quick.off()
        elif isinstance(loss, float):
            if loss > self.leaps.limit:
                self.watching.guard("leaps", self.leaps.leaped, loss, listed[0])
            self.leaps.passed((min(loss, self.leaps.limit),))
        self.watching.losses.backward_called(loss)

    def keep_losses(self, latest: int) -> None:
        """The backward calls before these are no part of the step."""
        self._losses = self._losses[len(self._losses) - latest :]
        self.backwards, self.accumulation.thrown = latest, 0

    def last_loss(self) -> float | torch.Tensor | None:
        """What backward was called on last in this step."""
        return self._losses[-1] if self._losses else None

    def _loss(self) -> float | torch.Tensor | None:
        """The losses since the last step: their mean, or their sum when each was divided beforehand."""
        losses = self._losses
        if not losses:
            return None
        self._losses = []
        if len(losses) == 1 or self._closure is not None:
            # A closure called again and again: the first value is that of the weights before the step.
            return losses[0]
        total = sum(losses[1:], losses[0])
        return total if self.loss_share < 0.75 else total / len(losses)

    def _read_norm(self, optimizer: torch.optim.Optimizer) -> None:
        self.watching.guard("gradient norms", self._take_norm, optimizer)

    def _take_norm(self, optimizer: torch.optim.Optimizer) -> None:
        watching, began = self.watching, perf_counter()
        norm = watching.sampler.gradient_norm(optimizer) if watching.sampling else None
        if norm is None or (norm.is_cpu and not math.isfinite(norm.item())):
            norm = watching.gradient_norm(optimizer)
            self.recorder.budget.norms.pay(UNDERCOUNT * (perf_counter() - began))
        if norm is not None:
            self._norms.append(norm)

    def saw_norm(self, norm: torch.Tensor) -> None:
        """The norm of the gradients of a step that no optimizer takes."""
        self._norms = [norm]

    def _gradients(self, row: Row) -> None:
        self.clips_norms = bool(self.clips)
        if self.clips:
            norm = row["grad_norm"] = together([norm for norm, _ in self.clips])
            row["grad_norm_clipped"] = limited(norm, max(limit for _, limit in self.clips))
            self.clips = []
        elif self._norms:
            row["grad_norm"] = together(self._norms)
        if self._norms:
            self._norms = []

    def _finish(self, entry: TrackedOptimizer | None, *, counts: bool = True) -> None:
        """The step is done: its row, and what to sample in the next one."""
        recorder = self.recorder
        seconds = self._entered - self._began
        recorder.step += counts
        row: Row = {}
        loss = self._loss()
        if loss is not None:
            row["loss"] = loss
        if entry is not None:
            entry.own_loss |= loss is not None
            self.optimizers.rates(row, entry, "")
        self._gradients(row)
        if self.loss_scale is not None:
            row["loss_scale"] = self.loss_scale
            row["skipped_steps"] = self.skipped
        row["data_wait_s"] = self._wait
        row["backward_s"] = self._backward
        row["optimizer_s"] = self._optimizer
        sampled = self.watching.sampling
        # A step that sampling made slower says nothing about the training's own pace.
        slowed = sampled and recorder.budget.samples.cost > _SLOWED * seconds
        if (self._wait or not self._broken) and not slowed:
            row["step_s"] = seconds - self.own_seconds
            row["forward_s"] = self._forward
        if counts:
            self.accumulation.step(self.backwards if self._closure is None else 1)
            self.watching.modes.record_mode()
            self.watching.step_done(row, seconds, self._entered)
        if sampled or self._norm_due or self._row_due(recorder.step):
            self._last_row = recorder.step
            self.rows.deliver(row, alone=self.depth > 0)
        self._next(seconds, sampled)

    def finish_late(self) -> None:
        """A step without an optimizer, whose end shows only now."""
        self._entered = perf_counter()
        self._finish(None)

    def _next(self, seconds: float, sampled: bool) -> None:
        """Clear for the next step, settle accounts, decide what to sample."""
        recorder, budget = self.recorder, self.recorder.budget
        own_seconds = self.own_seconds + perf_counter() - self._entered
        recorder.tick(self._entered)
        budget.wrote(self.own_seconds + perf_counter() - self._entered - own_seconds)
        if not self._broken:
            budget.step(seconds, UNDERCOUNT * own_seconds, sampled)
        self.plan()
        self._wait = self._forward = self._backward = self._optimizer = self.own_seconds = 0.0
        self.backwards, self._broken = 0, False
        self._closure = self.grad_fn = None
        self._began = self._mark = perf_counter()

    def _row_due(self, step: int) -> bool:
        return step < ALL_ROWS or not 0 < step - self._last_row < self.recorder.budget.stride

    def plan(self) -> None:
        """What to sample in the step that begins now."""
        step, norms = self.recorder.step, self.recorder.budget.norms
        due = norms.can_pay() or (step < _ALL_NORMS and norms.cost * step < _FIRST_NORMS)
        self._norm_due = due and not self.clips_norms
        self.watching.sampler.plan(step + 1)
        self.quick.decide(self._norm_due or self.watching.sampling)

    def close(self) -> None:
        """What is still open is written as it is."""
        self.quick.leave()
        self.quick.settle()
        self.quick.record_passed()
        if not self.optimizers.entries:
            self.by_hand.close()
        if self.hidden is not None and self._losses:
            self._entered = perf_counter()
            self._finish(self.optimizers.entry_of(self.hidden.optimizer))
        self.rows.finish()


def _overflowed(optimizer: torch.optim.Optimizer) -> bool:
    """A fused optimizer gets this from its scaler, and skips the step by itself."""
    overflow = getattr(optimizer, "found_inf", None)
    return isinstance(overflow, torch.Tensor) and overflow.is_cpu and bool(overflow.item())
