"""`traindx.preflight`: the same checks on a model, a loss and a loader in this process."""

from __future__ import annotations

import copy
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from traindx.evidence.case import Case
from traindx.experiment.preflight.observations import (
    ARMS,
    MEASURED,
    MEASURED_STEPS,
    Attempt,
    Flight,
    changes_of,
)
from traindx.experiment.preflight.result import Checklist, check
from traindx.observe.recorder import current

_RECORDING = "a recording of this process is running: call preflight before it begins, or after it ends"
_NO_OPTIMIZER = "No optimizer was given: Adam with a rate of 0.001 was used."


def preflight(
    model: Any,
    loss_fn: Callable[[Any, Any], Any],
    loader: Any,
    *,
    optimizer: Any = None,
    steps: int = 200,
    time_budget: float = 120.0,
) -> Checklist:
    """What `traindx.preflight` does with a model, a loss and a loader."""
    _check(model, loss_fn, loader, optimizer, steps)
    began = time.monotonic()
    running = current()
    if running is not None and not running.closed:
        nothing = {name: Attempt(name, None, "never trained", refused=_RECORDING) for name in ARMS}
        return check(Flight(nothing, notes=(_RECORDING.capitalize() + ".",)), time.monotonic() - began)
    import torch

    course = _RepeatedTraining(model, loss_fn, _as_loader(loader, steps), optimizer)
    attempts: dict[str, Attempt] = {}
    with tempfile.TemporaryDirectory(prefix="traindx-preflight-") as folder, course.streams.kept():
        for at, name in enumerate(ARMS):
            seconds_left = time_budget - (time.monotonic() - began)
            limit = max(1.0, seconds_left / (len(ARMS) - at)) if at else 0.4 * time_budget
            length = MEASURED_STEPS if name == MEASURED else steps
            attempts[name] = course.attempt(name, Path(folder) / f"arm-{at}", length, limit)
        notes = () if optimizer is not None else (_NO_OPTIMIZER,)
        flight = Flight(attempts, threads=torch.get_num_threads(), wished=steps, notes=notes)
        return check(flight, time.monotonic() - began)


def _check(model: Any, loss_fn: Any, loader: Any, optimizer: Any, steps: int) -> None:
    try:
        import torch
    except ImportError:
        raise ImportError("traindx.preflight needs PyTorch: pip install torch.") from None
    if not isinstance(model, torch.nn.Module):
        raise TypeError(f"model must be a torch.nn.Module; got {type(model).__name__}.")
    if not callable(loss_fn):
        raise TypeError(f"loss_fn must be callable as loss_fn(output, target); got {type(loss_fn).__name__}.")
    if not hasattr(loader, "__iter__"):
        raise TypeError(f"loader must give batches when iterated over; got {type(loader).__name__}.")
    if optimizer is not None and not isinstance(optimizer, torch.optim.Optimizer):
        raise TypeError(f"optimizer must be a torch.optim.Optimizer; got {type(optimizer).__name__}.")
    if steps < 10:
        raise ValueError(f"steps must be at least 10; got {steps}.")


def _as_loader(loader: Any, steps: int) -> Any:
    """A DataLoader as it is; other batches wrapped in a DataLoader that yields them unchanged."""
    from torch.utils.data import DataLoader

    if isinstance(loader, DataLoader):
        return loader
    batches = []
    for batch in loader:
        batches.append(batch)
        if len(batches) >= steps:
            break
    if not batches:
        raise ValueError("the loader gives no batch.")
    return DataLoader(batches, batch_size=None)  # type: ignore[arg-type]


def _as_written(loss_fn: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """The loss; a function of torch is looked up at each call, so that changes can replace it."""
    from torch.nn import functional

    name = getattr(loss_fn, "__name__", "")
    if name and getattr(functional, name, None) is loss_fn:
        return lambda output, target: getattr(functional, name)(output, target)
    return loss_fn


class _RepeatedTraining:
    """One training, to be run again and again from the same start."""

    def __init__(self, model: Any, loss_fn: Callable[[Any, Any], Any], loader: Any, optimizer: Any) -> None:
        from traindx.experiment.runtime.torch.streams import Streams

        self._model = model
        self._loss_fn = _as_written(loss_fn)
        self._loader = loader
        self._optimizer = optimizer
        self.streams = Streams()
        self._device = next((parameter.device for parameter in model.parameters()), None)
        self._steps = 0

    def attempt(self, name: str, folder: Path, steps: int, seconds: float) -> Attempt:
        """Train copies as one of the arms, for so many steps or seconds."""
        from traindx.engine import read
        from traindx.experiment.runtime.change_log import ChangeBroke
        from traindx.experiment.runtime.in_process import arm
        from traindx.observe.recorder import Stopped

        folder.mkdir()
        self.streams.restore()
        began = time.monotonic()
        self._steps, ended, message, change_logs = 0, "stopped", "", []
        try:
            with arm(folder, changes_of(name), internals=ARMS[name][1]) as training:
                change_logs = training.logs
                self._train(steps, began + seconds)
        except (Stopped, ChangeBroke) as error:
            message = str(error)
        except Exception as error:
            ended, message = "crashed", f"{type(error).__name__}: {error}".splitlines()[0][:300]
        runs = [run for run in read(folder).runs if run.series]
        case = Case(max(runs, key=lambda run: run.last_step or 0)) if runs else None
        refused = next((log.failed for log in change_logs if log.failed), None) or ""
        return Attempt(name, case, ended, message, self._steps, time.monotonic() - began, refused)

    def _train(self, steps: int, until: float) -> None:
        import torch

        model, optimizer = copy.deepcopy((self._model, self._optimizer))
        model.train()
        if optimizer is None:
            optimizer = torch.optim.Adam(
                [parameter for parameter in model.parameters() if parameter.requires_grad], lr=1e-3
            )
        while self._steps < steps and time.monotonic() < until:
            steps_before = self._steps
            for batch in self._loader:
                inputs, target = self._split(batch)
                optimizer.zero_grad()
                self._loss_fn(model(*inputs), target).backward()
                optimizer.step()
                self._steps += 1
                if self._steps >= steps or time.monotonic() >= until:
                    return
            if self._steps == steps_before:
                raise ValueError("the loader gives no batch.")

    def _split(self, batch: Any) -> tuple[list[Any], Any]:
        if not isinstance(batch, list | tuple) or len(batch) < 2:
            raise ValueError(
                f"a batch must be a pair of inputs and target; the loader gives {type(batch).__name__}."
            )
        moved = [
            part.to(self._device) if hasattr(part, "to") and self._device is not None else part
            for part in batch
        ]
        return moved[:-1], moved[-1]
