"""Steps that hold nothing new: kept as they come and made into rows many at a time, or only counted.

Python run between the operations of a training runs with cold caches and costs many times what it does in a
loop of its own. So an ordinary step leaves a tuple, and everything else waits for every sixteenth. Where
even that is more than the budget allows, steps between two rows are passed over: they are counted, and a
loss or a gradient norm that is no number, or a loss that leaps, still ends the passing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from math import hypot, inf
from threading import get_ident
from typing import TYPE_CHECKING, Any

import torch
from torch.autograd import graph

from traindx.observe.clock import perf_counter
from traindx.observe.torch.optimizer_state import FEW_GROUPS, TrackedOptimizer, has_closure
from traindx.observe.torch.scalars import Row

if TYPE_CHECKING:
    from traindx.observe.torch.steps import Steps

# So many steps get a row whatever it costs: short trainings are recorded from end to end.
ALL_ROWS = 1_000
_FROM = 64
_MANY = 16
_LONG = 0.1
# What a row costs in all, hooks and writing, in times of making it here.
_IN_ALL = 5.0

# One step as it was taken: when it ended, its number, loss and rates, the norm and the limit of clipping,
# then seconds of waiting, forward, backward, optimizer and all; the last is None where a pause made it void.
End = Callable[[Any], None]
QuickStep = tuple[float, int, float, Any, Any, Any, float, float, float, float, float | None]


class Quick:
    """Listens to what happens in every step; what it does not take goes the long way through `Listeners`."""

    def __init__(self, steps: Steps) -> None:
        self.steps = steps
        self.recorder = steps.recorder
        self.on = False
        self.passing = 0
        self.entry: TrackedOptimizer | None = None
        self._optimizer: Any = None
        self._model: Any = None
        self._keeps = False
        self._gap = 1
        self._groups = 0
        self.limit: float | None = None
        self._clipped: float | None = None
        self._waiting: list[QuickStep] = []
        self._settled = self._passing_since = 0.0
        self.passed = self._passing_from = 0
        self._record_from = 1

    # What it listens to.

    def loss_computed(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        """Nothing is to be done about a loss to be trained on, by a model in training mode."""
        watching = self.steps.watching
        if self.on and type(result) is torch.Tensor and result.requires_grad:
            model = self._model() if self._model is not None else None
            if (model is None or model.training) and not watching.sampler.answers.due(name):
                return
        watching.listeners.loss_computed(name, args, kwargs, result)

    def backward(self, tensors: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> End | None:
        steps, is_quick = self.steps, False
        if self.on and not steps.depth and get_ident() == steps.thread:
            try:
                began = perf_counter()
                loss = tensors[0] if type(tensors) is tuple and len(tensors) == 1 else None
                value, usual = None, True
                if type(loss) is torch.Tensor and loss.is_cpu and loss.numel() == 1:
                    value = loss.item()
                    usual = type(value) is float and -inf < value <= steps.leaps.limit and value < inf
                validation = steps.watching.validation
                if usual and self.passing:
                    if validation.pending:
                        validation.commit(training=True)
                    is_quick = True
                elif usual and value is not None and not (steps._losses or validation.pending):
                    is_quick = bool(kwargs.get("accumulate_grad", True))
                    if is_quick:
                        steps._losses.append(value)
                        steps._forward += began - steps._mark
                        steps._mark = began
            except Exception as error:
                steps.watching.stop_counting(error)
        if not is_quick:
            return steps.watching.listeners.backward(tensors, args, kwargs)
        steps.depth = 1
        return self.backward_ends

    def backward_ends(self, result: Any) -> None:
        """After a backward that was taken here; an optimizer that stepped inside goes the long way."""
        del result
        steps = self.steps
        steps.depth = 0
        if steps._inside:
            steps.watching.report(steps.backward_ends, True)
        elif not self.passing:
            now = perf_counter()
            steps._backward += now - steps._mark
            steps._mark = now

    def clipped(self, norm: Any, limit: Any) -> None:
        """Nothing is new where gradients are clipped to the limit that is known."""
        if self.on and limit == self.limit and type(norm) is torch.Tensor:
            value = norm.item() if norm.is_cpu else None
            if value is None and self.passing:
                return
            if type(value) is float and -inf < value < inf and not self.steps.clips:
                if not self.passing:
                    self._clipped = value if self._clipped is None else hypot(self._clipped, value)
                return
        watching = self.steps.watching
        if watching.active:
            watching.guard("clipping", watching.clipped, norm, limit)

    def step_begins(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        steps = self.steps
        if self.on and self._optimizer() is optimizer and not steps.depth and get_ident() == steps.thread:
            if self.passing:
                return
            if not steps._norm_due and not ((len(args) > 1 or kwargs) and has_closure(args, kwargs)):
                steps._mark = perf_counter()
                return
        steps.watching.listeners.step_begins(optimizer, args, kwargs)

    def step_ends(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        watching, is_quick = self.steps.watching, False
        if self.on:
            try:
                is_quick = self._step_taken(optimizer, args, kwargs)
            except Exception as error:
                watching.stop_counting(error)
        if is_quick:
            self.recorder.check_stop()
        else:
            watching.listeners.step_ends(optimizer, args, kwargs)

    def _step_taken(self, optimizer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        """Whether the step holds nothing that needs the long way; kept, or only counted."""
        steps = self.steps
        if self._optimizer() is not optimizer or steps.depth or get_ident() != steps.thread:
            return False
        now = perf_counter()
        if self.passing:
            self._pass(now)
            return True
        groups = optimizer.param_groups
        if len(steps._losses) != 1 or steps._norms or steps.clips or len(groups) != self._groups:
            return False
        if (len(args) > 1 or kwargs) and has_closure(args, kwargs):
            return False
        rates = groups[0].get("lr") if len(groups) == 1 else [group.get("lr") for group in groups]
        seconds = None if steps._broken and not steps._wait else now - steps._began
        self.recorder.step = step = self.recorder.step + 1
        loss: float = steps._losses.pop()  # type: ignore[assignment]
        times = (steps._wait, steps._forward, steps._backward, now - steps._mark, seconds)
        self._waiting.append((now, step, loss, rates, self._clipped, self.limit, *times))
        steps._wait = steps._forward = steps._backward = 0.0
        steps._broken, self._clipped = False, None
        steps.accumulation.fetched = 0
        if len(self._waiting) >= _MANY or now - self._settled > _LONG:
            # Whoever else settles may do so in the middle of a validation.
            steps.watching.modes.record_mode()
            self.settle()
            steps.plan()
        elif self._gap > 1:
            self._pass_on()
        steps._began = steps._mark = perf_counter()
        return True

    # Which way the coming steps go.

    def decide(self, busy: bool) -> None:
        """`busy`: the step that begins now is sampled, or its gradients are."""
        steps = self.steps
        watching, lead = steps.watching, steps.optimizers.lead
        optimizer = lead.ref() if lead is not None else None
        ordinary = (
            optimizer is not None
            and len(steps.optimizers.entries) == 1
            and steps.loss_scale is None
            and steps.hidden is None
            and not steps.stepped_inside
            and not watching.compiled
            and watching.facts.world == 1
            and not graph.log.isEnabledFor(logging.DEBUG)
        )
        self.entry, self._optimizer = lead, lead.ref if lead is not None else None
        self._model = watching.modes.root
        self._groups = lead.groups if lead is not None else 0
        early = self.recorder.step < _FROM
        self._keeps = ordinary and not watching.sampling and not early and self._groups <= FEW_GROUPS
        self._gap = self.recorder.spacing() if ordinary and self.recorder.step >= ALL_ROWS else 1
        self.passing = 0
        self.on = self._keeps
        if self._gap > 1 and not busy:
            self._pass_on()

    def off(self) -> None:
        """Everything goes the long way, until decided again."""
        self.leave()
        self.on = self._keeps = False

    def leave(self) -> None:
        """The step under way goes the long way from here on."""
        if self.passing:
            self._wake()
        if self._clipped is not None:
            assert self.limit is not None
            self.steps.clips.append((torch.tensor(self._clipped), self.limit))
            self._clipped = None

    # Steps that are only counted.

    def _pass_on(self) -> None:
        """Until the next row; one step more every other time, so that what alternates is seen in turn."""
        self.passing = self._gap - 1 + (self.recorder.step & 1)
        self._passing_since, self._passing_from = perf_counter(), self.recorder.step
        self.on = True

    def _pass(self, now: float) -> None:
        steps = self.steps
        assert self.entry is not None
        self.recorder.step += 1
        self.entry.count += 1
        self.passing -= 1
        steps._began = steps._mark = now
        steps._broken = False
        if not self.passing or now - self._passing_since > _LONG:
            self._wake()

    def _wake(self) -> None:
        """Where a step is under way for which the loop has waited, its times are void."""
        steps = self.steps
        self.recorder.budget.passed(perf_counter() - self._passing_since)
        self.passed += self.recorder.step - self._passing_from
        if self.passed >= self._record_from:
            self.record_passed()
        self.passing = 0
        self.on = self._keeps
        steps._wait = steps._forward = steps._backward = 0.0
        steps._broken = steps._broken or steps._mark != steps._began
        steps.accumulation.fetched = 0

    def record_passed(self) -> None:
        """The recording says that it holds less than all steps: now and then, and at the end."""
        if self.passed:
            self._record_from = 2 * self.passed
            self.recorder.fact("passed_over", self.passed)

    # Rows.

    def settle(self) -> None:
        """Rows of what was kept, and the accounts."""
        waiting, self._waiting = self._waiting, []
        self._settled = began = perf_counter()
        if not waiting or self.entry is None:
            return
        steps, recorder, budget = self.steps, self.recorder, self.recorder.budget
        self.entry.count += len(waiting)
        rows = [self._row(quick_step) for quick_step in waiting]
        steps.leaps.passed(quick_step[2] for quick_step in waiting)
        making = perf_counter() - began
        steps.watching.step_done(rows[-1], waiting[-1][-1] or 0.0, began)
        for row in rows:
            recorder.push(row)
        recorder.tick(began)
        budget.wrote(perf_counter() - began - making)
        budget.rows(
            [quick_step[-1] for quick_step in waiting if quick_step[-1] is not None], _IN_ALL * making
        )
        steps.clips_norms = waiting[-1][4] is not None

    def _row(self, quick_step: QuickStep) -> Row:
        assert self.entry is not None
        end, step, loss, rates, norm, limit, wait, forward, backward, optimizer, seconds = quick_step
        row: Row = {"t": self.recorder.since(end), "step": step, "loss": loss}
        self.steps.optimizers.record_rates(
            row, self.entry, rates if isinstance(rates, list) else [rates], step
        )
        if norm is not None:
            row["grad_norm"], row["grad_norm_clipped"] = norm, min(norm, limit)
        row["data_wait_s"], row["backward_s"], row["optimizer_s"] = wait, backward, optimizer
        if seconds is not None:
            row["step_s"], row["forward_s"] = seconds, forward
        return row
