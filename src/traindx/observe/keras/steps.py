"""The steps of a Keras training: their rows, which of them are sampled, what a sample becomes."""

from __future__ import annotations

import math
import weakref
from typing import TYPE_CHECKING, Any

from traindx.observe.call_steps import ALL_ROWS, OTHERS_MOST, CallSteps, Row
from traindx.observe.clock import perf_counter, wall_clock
from traindx.observe.keras import loss_facts
from traindx.observe.keras.batches import KerasBatches
from traindx.observe.keras.layer_statistics import LayerOutputs, LayerUpdates
from traindx.observe.keras.tap import Tap
from traindx.observe.keras.tensors import host, host_all
from traindx.observe.untrained import SAMPLES_NEEDED

if TYPE_CHECKING:
    from traindx.observe.keras.process import KerasTraining

_WAITING = "scalars"
_ROWS_DEFERRED = 100_000


class KerasSteps(CallSteps):
    """Counts steps. Numbers of a step stay on their device until the recording is written."""

    def __init__(self, training: KerasTraining) -> None:
        super().__init__(training.recorder)
        self.training = training
        self.updates = LayerUpdates(training.names)
        self.activations = LayerOutputs(training.names)
        self.batches = KerasBatches()
        self._lead: weakref.ref[Any] | None = None
        self._fitted: weakref.WeakSet[Any] = weakref.WeakSet()
        self._shortest = math.inf
        self._other_steps = 0
        self.recorder.before_flush.append(self.settle)

    def full_next(self) -> bool:
        """Whether the step that begins now is sampled."""
        recorder, budget = self.recorder, self.recorder.budget
        early = self._early.due(recorder.step + 1)
        payable = budget.samples.can_pay() or budget.norms.can_pay()
        return recorder.internals and (early or (payable and recorder.may_sample()))

    def leads(self, optimizer: Any) -> bool:
        """Whether a step of this optimizer is one of the training, rather than a part of one."""
        lead = self._lead() if self._lead is not None else None
        if lead is None or lead is optimizer:
            self._other_steps = 0
            return True
        # Another model trains by now, or the same one by another optimizer.
        self._other_steps += 1
        return self._other_steps > OTHERS_MOST

    def paused(self) -> None:
        """Something else than training went on: the time until the next step says nothing of it."""
        self._last_end = None

    def done(
        self, tap: Tap, out: dict[str, Any], began: float, *, traced: bool, count: int = 1, wait: float = 0.0
    ) -> None:
        """A step, or several in one execution, ended just now."""
        now = perf_counter()
        recorder, budget = self.recorder, self.recorder.budget
        self._new_training(tap)
        recorder.step += count
        if not tap.full and recorder.step - self._last_row < budget.stride and recorder.step > ALL_ROWS:
            self._finish(tap.full, now, now - began, traced)
            return
        self._last_row = recorder.step
        since = self._last_end if self._last_end is not None else began
        seconds = (now - since) / count
        row: Row = {"t": recorder.now(), "step": recorder.step, "data_wait_s": wait / count}
        if self._last_end is not None and not traced and not (tap.full and budget.samples.cost > seconds / 4):
            row["step_s"] = seconds
        if "scalars" in out:
            row[_WAITING] = (tap, out["scalars"])
        if "there" in out and not traced:
            row["data_wait_s"] = self._waited(float(host(out["there"])), now - began) / count
        self._memory(row, now)
        if tap.full:
            self._sample(tap, out, row, now - began, traced)
        else:
            self._waiting.append(row)
            if recorder.step >= _ROWS_DEFERRED:
                self.settle([])
        recorder.push(row)
        self._finish(tap.full, now, now - since, traced)

    def _waited(self, arrival: float, seconds: float) -> float:
        """From the call of the function until its batch was there, beyond the shortest such time."""
        waited = min(seconds, max(0.0, arrival - (wall_clock() - seconds)))
        self._shortest = min(self._shortest, waited)
        return waited - self._shortest

    def model_begins(self, model: Any) -> None:
        """`fit` of a model is called: what it is given is of another training, where the model is another."""
        was_fitted, optimizer = model in self._fitted, model.optimizer
        self._fitted.add(model)
        if optimizer is not None and not was_fitted:
            # A model without weights yet has not trained before.
            variables = model.trainable_variables if model.built else []
            self._begin_another(variables, [model], str(model.name))

    def _new_training(self, tap: Tap) -> None:
        """The first optimizer's steps are counted; one of another model begins a training of its own."""
        lead = self._lead() if self._lead is not None else None
        if not tap.optimizers or any(optimizer is lead for optimizer in tap.optimizers):
            return
        optimizer = tap.optimizers[0]
        variables = [variable for group in tap.optimizer_variables for variable in group]
        if self._lead is None:
            self.training.facts.trains(variables)
        elif not self._begin_another(variables, tap.roots, str(optimizer.name)):
            self.recorder.event("optimizer_changed", f"{optimizer.name} trains now")
        self._lead = weakref.ref(optimizer)

    def _begin_another(self, variables: list[Any], models: list[Any], name: str) -> bool:
        facts = self.training.facts
        is_new = facts.are_new(variables)
        if is_new:
            facts.restart(models)
            self.recorder.event("new_training", f"{name} trains another model; steps are counted anew")
            self.recorder.restart()
            self.batches.restart()
            self._lead, self._last_row = None, 0
        facts.trains(variables)
        return is_new

    # Rows.

    def settle(self, rows: list[Row]) -> None:
        """Numbers of all steps so far are fetched from their device, in their order."""
        del rows
        waiting_rows, self._waiting = self._waiting, []
        for row in waiting_rows:
            waiting = row.pop(_WAITING, None)
            if isinstance(waiting, tuple):
                self._expand(row, *waiting)

    def _expand(self, row: Row, tap: Tap, scalars: Any) -> None:
        numbers = tap.numbers(scalars)
        names = self.training.facts.optimizer_names(tap)
        losses = [number for number in range(len(names)) if f"loss/{number}" in numbers]
        lead = self._lead() if self._lead is not None else None
        for number, name in enumerate(names):
            ours = tap.optimizers[number] is lead or len(names) == 1
            row["lr" if ours else f"optimizer/{name}/lr"] = numbers.get(f"lr/{number}")
        if len(losses) == 1:
            row["loss"] = numbers[f"loss/{losses[0]}"]
        else:
            row.update({f"loss/{names[number]}": numbers[f"loss/{number}"] for number in losses})
        self.training.critical.saw(row, tap, numbers)

    # Samples.

    def _sample(self, tap: Tap, out: dict[str, Any], row: Row, seconds: float, traced: bool) -> None:
        began = perf_counter()
        groups: dict[str, dict[str, object]] = {}
        arrays = host_all(out)
        self._waiting.append(row)
        self.settle([])
        self.training.guard("layers", self._layers, tap, arrays, groups, row)
        self.training.guard("activations", self._activations, tap, arrays, groups)
        kind = loss_facts.kind(tap.losses[0][0]) if tap.losses else ""
        self.training.guard(
            "batches",
            lambda: groups.update(self.batches.groups(arrays.get("data", {}), kind, self.recorder.step)),
        )
        numbers = tap.numbers(arrays["scalars"]) if "scalars" in arrays else {}
        loss, fitted = numbers.get("loss/0"), numbers.get("fitted")
        if loss is not None and fitted and "output" in groups and math.isfinite(loss / fitted):
            groups["output"]["backward_ratio"] = loss / fitted
        if groups:
            self.recorder.sample(groups)
        self.sample_count += 1
        self._pay_for_sample(perf_counter() - began, seconds, traced)
        if self.sample_count == SAMPLES_NEEDED or self.sample_count % 16 == 0:
            self.training.guard("layers", self._report_untrained)

    def _layers(self, tap: Tap, arrays: dict[str, Any], groups: dict[str, Any], row: Row) -> None:
        if "updates" not in arrays:
            return
        names, statistics = self.updates.statistics(tap.variables, arrays["updates"], arrays["gradients"])
        if any(norm is not None and not math.isfinite(norm) for norm in statistics["weight_norm"]):
            self.training.critical.weights_lost()
        self.recorder.names("layer", names)
        groups["layer"] = statistics
        self.recorder.names("variable", list(self.updates.variables))
        groups["variable"] = {"variable_grad_norm": list(self.updates.variables.values())}
        if self.updates.norm is not None:
            row["grad_norm"] = self.updates.norm
            clipped = self.training.facts.clipped(self.updates.norm)
            if clipped is not None:
                row["grad_norm_clipped"] = clipped

    def _activations(self, tap: Tap, arrays: dict[str, Any], groups: dict[str, Any]) -> None:
        names, statistics = self.activations.statistics(tap.layers, arrays.get("activations", ()))
        if names:
            self.recorder.names("activation", names)
            groups["activation"] = statistics

    def _report_untrained(self) -> None:
        without = self.updates.without
        self._untrained.report(
            list(without),
            [name for name, is_none in without.items() if is_none],
            reached=len(self.updates.reached),
            samples=self.sample_count,
        )
