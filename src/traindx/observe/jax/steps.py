"""The steps of a JAX training: their rows, which of them are sampled, what a sample becomes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from traindx.observe.arrays import Values
from traindx.observe.call_steps import ALL_ROWS, OTHERS_MOST, CallSteps, Row
from traindx.observe.clock import perf_counter
from traindx.observe.jax.batches import JaxBatches
from traindx.observe.jax.gradients import StateBefore, step_gradients
from traindx.observe.jax.layers import Layers
from traindx.observe.jax.pytrees import apart, leaves, reach, sample
from traindx.observe.jax.setup_facts import JaxFacts
from traindx.observe.jax.tracing import Notes
from traindx.observe.untrained import SAMPLES_NEEDED

if TYPE_CHECKING:
    from traindx.observe.jax.process import JaxTraining

_WAITING = "loss"
_IN_A_ROW = 3
_LOOP_ROWS = 500
# So few steps of a function that only differentiates were for a look at gradients.
_TRIED = 3
_TIMED = 16


class JaxSteps(CallSteps):
    """Counts steps. Numbers of a step stay on their device until they are there anyway."""

    def __init__(self, training: JaxTraining) -> None:
        super().__init__(training.recorder)
        self.training = training
        self.facts = JaxFacts(self.recorder)
        self.layers = Layers()
        self.batches = JaxBatches()
        self._lead: Any = None
        self._other_calls = 0
        self._lead_updates = False
        self._window: tuple[float, int, int] | None = None
        self._latest: Any = None
        self._bad_in_a_row = 0
        self._counted: list[tuple[int, int]] = []
        self._open: tuple[Notes, list[Values | None], list[Values | None], Any] | None = None
        self.recorder.before_flush.append(self.settle)

    def full_next(self, function: Any) -> bool:
        """Whether the step that begins now is sampled."""
        recorder, budget = self.recorder, self.recorder.budget
        if self._lead is not None and function is not self._lead and function != self._lead:
            return False
        early = self._early.due(recorder.step + 1)
        payable = budget.samples.can_pay() or budget.norms.can_pay()
        return recorder.internals and (early or (payable and recorder.may_sample()))

    def done(
        self,
        function: Any,
        notes: Notes,
        arguments: Any,
        result: Any,
        began: float,
        state_before: StateBefore | None,
        traced: bool,
    ) -> None:
        """A call that trains has returned."""
        now = perf_counter()
        recorder, budget = self.recorder, self.recorder.budget
        if not self._leads(function, notes, arguments, result):
            return
        self._finish_open(arguments)
        full = state_before is not None
        if traced:
            self.training.guard("facts", self.facts.traced, notes, arguments)
            if state_before is None:
                full = self.full_next(function)
                state_before = StateBefore()
        if full and state_before is not None and not state_before.weights:
            self.training.guard("weights", state_before.read, notes, arguments)
        recorder.step += notes.repeats
        if not full and recorder.step - self._last_row < budget.stride and recorder.step > ALL_ROWS:
            self._finish(full, now, now - began, traced)
            return
        self._last_row = recorder.step
        since = self._last_end if self._last_end is not None else began
        row: Row = {"t": recorder.now(), "step": recorder.step}
        if notes.loss is not None:
            row[_WAITING] = reach(result, notes.loss)
        self._time(row, now)
        rate = self.facts.rate(recorder.step, full)
        if rate is not None:
            row["lr"] = rate
        if notes.rate is not None and full:
            value = sample(leaves(arguments)[notes.rate])
            row["lr"] = None if value is None else float(value[0])
        self._memory(row, now)
        if full or traced:
            self.paused()
        if full and state_before is not None:
            self._sample(notes, state_before, arguments, result, row, now - began, traced)
        self._waiting.append(row)
        recorder.push(row)
        self._finish(full, now, now - since, traced)

    def _leads(self, function: Any, notes: Notes, arguments: Any, result: Any) -> bool:
        """The first function that trains is the training; others are parts of it, until it ends."""
        if self._lead is None or function == self._lead:
            self._lead, self._other_calls = function, 0
            self._lead_updates = bool(notes.updated)
            return True
        self._other_calls += 1
        tried = self.recorder.step <= _TRIED and notes.updated and not self._lead_updates
        if self._other_calls > OTHERS_MOST or tried:
            self._lead, self._other_calls, self._open = function, 0, None
            self._lead_updates = bool(notes.updated)
            self.recorder.event("new_training", "another function trains; steps are counted anew")
            self.recorder.restart()
            self.batches.restart()
            self.layers = Layers()
            self._last_row = self.sample_count = 0
            self.training.guard("facts", self.facts.traced, notes, arguments)
            return True
        if notes.loss is not None:
            name = str(getattr(function, "__name__", "other"))
            self._waiting.append(
                {"step": self.recorder.step, "name": f"loss/{name}", _WAITING: reach(result, notes.loss)}
            )
        return False

    # Rows.

    def settle(self, rows: list[Row], *, all_of_them: bool = False) -> None:
        """Numbers that have arrived are fetched, in their order; no device is waited for."""
        del rows
        while self._waiting:
            row = self._waiting[0]
            loss = row.get(_WAITING)
            if not all_of_them and not _is_ready(loss):
                break
            self._waiting.pop(0)
            if loss is None:
                continue
            numbers = np.asarray(loss, dtype=np.float64).reshape(-1) if not _deleted(loss) else np.zeros(0)
            number = float(numbers[-1]) if numbers.size else None
            if numbers.size > 1:
                self._push_loop_losses(int(str(row["step"])), numbers[:-1])
            name = row.pop("name", None)
            if isinstance(name, str):
                self.recorder.row({name: number}, int(str(row["step"])))
            else:
                row[_WAITING] = number
                self._check(row, number)

    def _push_loop_losses(self, last: int, numbers: Values) -> None:
        """Losses of steps that ran in one loop; the last one is in the row."""
        for place in range(0, len(numbers), -(-len(numbers) // _LOOP_ROWS)):
            self.recorder.row({"loss": float(numbers[place])}, last - len(numbers) + place)

    def _check(self, row: Row, loss: float | None) -> None:
        """`--stop-on critical`, and the first loss that is no number."""
        if loss is None or math.isfinite(loss):
            self._bad_in_a_row = 0
            return
        self._bad_in_a_row += 1
        if self.recorder.stop_on_critical and self._bad_in_a_row >= _IN_A_ROW:
            reason = f"the loss is {loss} at step {row['step']}, for {_IN_A_ROW} steps in a row"
            self.recorder.stop_soon(f"stopped on a critical problem: {reason}")

    def paused(self) -> None:
        """Something else than training went on: the time until the next step says nothing of it."""
        self._window = None

    def _time(self, row: Row, now: float) -> None:
        """The mean over some steps without a pause, while the device is not behind the calls."""
        loss, self._latest = self._latest, row.get(_WAITING)
        if not _is_ready(loss):
            self._window = None
            return
        step, printed = self.recorder.step, self.recorder.printed
        if self._window is not None and self._window[2] == printed:
            began, first, _ = self._window
            if step - first < _TIMED:
                return
            row["step_s"] = (now - began) / (step - first)
        self._window = now, step, printed

    # Samples.

    def _sample(
        self,
        notes: Notes,
        state_before: StateBefore,
        arguments: Any,
        result: Any,
        row: Row,
        seconds: float,
        traced: bool,
    ) -> None:
        began = perf_counter()
        argument_leaves, out = leaves(arguments), leaves(result)
        groups: dict[str, dict[str, object]] = {}
        self.training.guard(
            "batches",
            lambda: groups.update(self.batches.groups(notes, argument_leaves, out, self.recorder.step)),
        )
        after: list[Values | None] = [
            sample(out[notes.updated[n]]) if n in notes.updated else None for n in range(len(notes.weights))
        ]
        gradients = step_gradients(self.facts, self.recorder.step, notes, state_before, out, after)
        if notes.repeats > 1:  # what many steps did together says nothing of one
            after, gradients = [None] * len(after), [None] * len(after)
        if notes.updated:
            shapes = [tuple(argument_leaves[place].shape) for place in notes.weights]
            self._record(notes, state_before.weights, after, gradients, shapes, groups, row)
        else:
            self._open = notes, state_before.weights, gradients, groups
        self._counting(state_before)
        self.sample_count += 1
        self._pay_for_sample(perf_counter() - began, seconds, traced)

    def _finish_open(self, arguments: Any) -> None:
        """Weights were updated outside of the function: the next call shows what became of them."""
        if self._open is None:
            return
        (notes, weights, gradients, groups), self._open = self._open, None
        if arguments is not None:
            argument_leaves = leaves(arguments)
            after = [sample(argument_leaves[place]) for place in notes.weights]
            shapes = [tuple(argument_leaves[place].shape) for place in notes.weights]
            self._record(notes, weights, after, gradients, shapes, groups, None)
        elif groups:
            self.recorder.sample(groups)

    def _record(
        self,
        notes: Notes,
        weights: list[Values | None],
        after: list[Values | None],
        gradients: list[Values | None],
        shapes: list[tuple[int, ...]],
        groups: dict[str, Any],
        row: Row | None,
    ) -> None:
        scales = [apart(shape) for shape in shapes]
        with np.errstate(all="ignore"):
            names, statistics = self.layers.statistics(notes.names, shapes, weights, after, gradients, scales)
        self.recorder.names("layer", names)
        groups["layer"] = statistics
        norm = self.layers.norm
        if norm is not None:
            values = self.facts.norms(norm, raw=bool(notes.gradients))
            if row is not None:
                row.update(values)
            else:
                self.recorder.row(values)
        self.recorder.sample(groups)
        if self.sample_count == SAMPLES_NEEDED or self.sample_count % 16 == 15:
            self._report_untrained()

    def _counting(self, state_before: StateBefore) -> None:
        """Whether an optimizer counts its steps, or is made again for each of them."""
        if state_before.counts:
            self._counted.append((self.recorder.step, max(state_before.counts)))

    def _report_untrained(self) -> None:
        self._untrained.report(
            list(self.layers.without), (), reached=len(self.layers.reached), samples=self.sample_count
        )

    def end(self) -> None:
        """What only the end shows."""
        self.settle([], all_of_them=True)
        self._finish_open(None)
        layers = self.layers
        if layers.updates >= SAMPLES_NEEDED and not layers.changed and self.facts.rate(1, True) != 0:
            self.recorder.event(
                "optimizer_never_stepped", f"no weight changed in {layers.updates} sampled steps"
            )
        self.facts.end(self.batches.facts(), self.recorder.step, self._counted)


def _is_ready(value: Any) -> bool:
    """Whether a number has arrived from its device."""
    ready = getattr(value, "is_ready", None)
    return ready is None or _deleted(value) or bool(ready())


def _deleted(value: Any) -> bool:
    deleted = getattr(value, "is_deleted", None)
    return bool(deleted is not None and deleted())
