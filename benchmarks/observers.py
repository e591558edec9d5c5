"""Ways to look into a training while it runs, each of which can be switched on for a block of steps."""

from __future__ import annotations

import contextlib
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from trainings import Training

After = Callable[[torch.Tensor], object] | None
# Seconds in which the recorder looks whatever it costs, because what happens first tells most.
WARM_UP = 5.0
# Other processes (wandb's) finish what they were sent before the next block begins.
_SETTLE = 0.2


@dataclass(frozen=True)
class Observer:
    """`on()` observes while its block lasts; `period`: steps until everything it does has come up once."""

    name: str
    on: Callable[[], AbstractContextManager[After]]
    period: int = 1


class Recorded:
    """One recording of one training, from which the training can be taken out and put back."""

    def __init__(self, make: Callable[[], Training], folder: Path) -> None:
        from traindx.observe import recorder
        from traindx.observe.torch.install import install

        self.recorder = recorder.start(folder)
        self.watching = install(self.recorder)
        self.training = make()
        began = time.perf_counter()
        self.training.run(1)
        self.first_step = time.perf_counter() - began
        while time.perf_counter() < began + WARM_UP:
            self.training.run(1)
        self._pause()

    @contextlib.contextmanager
    def on(self) -> Iterator[After]:
        """The same recorder goes on, with its accounts; in between, nothing of it is left in torch."""
        from traindx.observe.torch.install import listen

        listen(self.watching)
        self.watching.active = True
        self.watching.steps.paused()
        yield None
        self._pause()

    def _pause(self) -> None:
        self.watching.active = False
        for remove in self.watching.removals:
            remove()
        self.watching.removals.clear()

    def looks(self) -> int:
        """How many samples of the internals the recording holds by now."""
        self.recorder.flush()
        with open(self.recorder.journal.path, encoding="utf-8") as lines:
            return sum('"sample":' in line for line in lines)

    def close(self) -> None:
        self.recorder.close("finished")


@contextlib.contextmanager
def plain() -> Iterator[After]:
    yield None


def rivals(training: Training, folder: Path) -> list[Observer]:
    """What else people use; a line for each that is not installed."""
    model = training.model
    found = [_naive(model), _anomalies()]
    for package, make in (("wandb", _wandb), ("torchmortem", _torchmortem)):
        try:
            found += make(training, folder)
        except ImportError:
            print(f"{package} is not installed and not measured: pip install {package}")
    return found


def _naive(model: torch.nn.Module) -> Observer:
    def norms(_: torch.Tensor) -> None:
        for parameter in model.parameters():
            if parameter.grad is not None:
                parameter.grad.norm().item()

    @contextlib.contextmanager
    def on() -> Iterator[After]:
        yield norms

    return Observer("`p.grad.norm().item()` of every parameter, every step", on)


def _anomalies() -> Observer:
    @contextlib.contextmanager
    def on() -> Iterator[After]:
        torch.autograd.set_detect_anomaly(True)
        yield None
        torch.autograd.set_detect_anomaly(False)

    return Observer("`torch.autograd.set_detect_anomaly(True)`", on)


def _wandb(training: Training, folder: Path) -> list[Observer]:
    os.environ |= {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}
    import wandb

    # Without its own machine statistics, which would run through the blocks of the others too.
    quiet = wandb.Settings(x_disable_stats=True, console="off")
    run = wandb.run or wandb.init(project="overhead", dir=str(folder), settings=quiet)

    def log(loss: torch.Tensor) -> None:
        run.log({"loss": loss.item()})

    @contextlib.contextmanager
    def logging() -> Iterator[After]:
        yield log
        time.sleep(_SETTLE)

    @contextlib.contextmanager
    def watching() -> Iterator[After]:
        wandb.watch(training.model, log="all")
        yield log
        wandb.unwatch(training.model)
        time.sleep(_SETTLE)

    return [
        Observer("`wandb.log` of the loss, every step", logging),
        Observer('the same with `wandb.watch(model, log="all")`', watching, period=1000),
    ]


def _torchmortem(training: Training, _: Path) -> list[Observer]:
    from torchmortem import Autopsy

    autopsy: Any = Autopsy(training.model, optimizer=training.optimizer)

    def step(loss: torch.Tensor) -> None:
        autopsy.step(loss=loss.item())

    @contextlib.contextmanager
    def on() -> Iterator[After]:
        autopsy.attach()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield step
        # Its detach() would also run its analysis, which is not part of the training.
        for collector in autopsy._collectors:
            collector.detach()
        autopsy._attached = False

    return [Observer("`torchmortem.Autopsy`", on)]
