"""`traindx.preflight`: the same checks on a model, a loss and a loader in this process."""

from __future__ import annotations

import contextlib
import copy
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from traindx.evidence.case import Case
from traindx.experiment.preflight.observations import (
    AGAIN,
    MEASURED,
    NO_INPUTS,
    ONE_BATCH,
    OTHER_LABELS,
    UNTOUCHED,
    Attempt,
    Flight,
)
from traindx.experiment.preflight.result import Checklist, check
from traindx.experiment.runtime.change import Change
from traindx.observe.recorder import current

_ARMS: tuple[tuple[str, str, bool], ...] = (
    (UNTOUCHED, "", True),
    (MEASURED, "measure_first_step", False),
    (ONE_BATCH, "repeat_batch", True),
    (NO_INPUTS, "zero_inputs", False),
    (OTHER_LABELS, "shuffle_labels", False),
    (AGAIN, "", False),
)
_MEASURED_STEPS = 2
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
    """Check a training before its long run: `loss_fn(model(inputs), target)` over the batches of a loader.

    A batch is a pair of inputs and target, or a longer tuple whose last part is the target. Copies of the
    model (and of the optimizer, if one is given) are trained for a few hundred steps each; yours, and the
    streams of random numbers, stay as they are. The result is true when nothing failed.
    """
    _check(model, loss_fn, loader, optimizer, steps)
    began = time.monotonic()
    running = current()
    if running is not None and not running.closed:
        nothing = {name: Attempt(name, None, "never trained", refused=_RECORDING) for name, _, _ in _ARMS}
        return check(Flight(nothing, notes=(_RECORDING.capitalize() + ".",)), time.monotonic() - began)
    import torch

    course = _RepeatedTraining(model, loss_fn, _as_loader(loader, steps), optimizer)
    attempts: dict[str, Attempt] = {}
    with tempfile.TemporaryDirectory(prefix="traindx-preflight-") as folder, course.kept():
        for at, (name, change, internals) in enumerate(_ARMS):
            left = time_budget - (time.monotonic() - began)
            limit = max(1.0, left / (len(_ARMS) - at)) if at else 0.4 * time_budget
            many = _MEASURED_STEPS if name == MEASURED else steps
            changes = (Change(change).checked(),) if change else ()
            attempts[name] = course.flown(name, Path(folder) / f"arm-{at}", changes, internals, many, limit)
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
    """A DataLoader as it is; other batches in one that hands them on."""
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
    """A function of torch is looked up when it is called: changes act on it where it stands."""
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
        self._streams = Streams()
        self._device = next((one.device for one in model.parameters()), None)

    @contextlib.contextmanager
    def kept(self) -> Iterator[None]:
        """Every stream of random numbers as it was, afterwards."""
        self._streams.save()
        try:
            yield
        finally:
            self._streams.restore()

    def flown(
        self,
        name: str,
        folder: Path,
        changes: tuple[Change, ...],
        internals: bool,
        steps: int,
        seconds: float,
    ) -> Attempt:
        """Train copies under changes for so many steps, or so many seconds."""
        from traindx.engine import read
        from traindx.experiment.runtime.change_log import ChangeBroke
        from traindx.experiment.runtime.in_process import arm
        from traindx.observe.recorder import Stopped

        folder.mkdir()
        self._streams.restore()
        began = time.monotonic()
        made, ended, said, told = [0], "stopped", "", []
        try:
            with arm(folder, changes, internals=internals) as training:
                told = training.logs
                self._train(steps, began + seconds, made)
        except (Stopped, ChangeBroke) as error:
            said = str(error)
        except Exception as error:
            ended, said = "crashed", f"{type(error).__name__}: {error}".splitlines()[0][:300]
        runs = read(folder).runs
        case = Case(max(runs, key=lambda run: run.last_step or 0)) if runs else None
        refused = next((one.failed for one in told if one.failed), None) or ""
        return Attempt(name, case, ended, said, made[0], time.monotonic() - began, refused)

    def _train(self, steps: int, until: float, made: list[int]) -> None:
        import torch

        model, optimizer = copy.deepcopy((self._model, self._optimizer))
        model.train()
        if optimizer is None:
            optimizer = torch.optim.Adam([one for one in model.parameters() if one.requires_grad], lr=1e-3)
        while made[0] < steps and time.monotonic() < until:
            before = made[0]
            for batch in self._loader:
                inputs, target = self._split(batch)
                optimizer.zero_grad()
                self._loss_fn(model(*inputs), target).backward()
                optimizer.step()
                made[0] += 1
                if made[0] >= steps or time.monotonic() >= until:
                    return
            if made[0] == before:
                raise ValueError("the loader gives no batch.")

    def _split(self, batch: Any) -> tuple[list[Any], Any]:
        if not isinstance(batch, list | tuple) or len(batch) < 2:
            raise ValueError(
                f"a batch must be a pair of inputs and target; the loader gives {type(batch).__name__}."
            )
        moved = [
            one.to(self._device) if hasattr(one, "to") and self._device is not None else one for one in batch
        ]
        return moved[:-1], moved[-1]
