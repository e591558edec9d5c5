"""Little trainings run in this process under changes, with torch put back afterwards."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn

from traindx.experiment.runtime.change import Change
from traindx.experiment.runtime.hooks import ChangedTraining
from traindx.observe.recorder import Stopped

Tensors = list[torch.Tensor]


@dataclass
class Ran:
    """What came of an arm."""

    result: Any = None
    said: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    stopped: str = ""


@contextlib.contextmanager
def changed(*changes: str) -> Iterator[ChangedTraining]:
    training = ChangedTraining([Change.parse(one) for one in changes])
    training.install()
    try:
        yield training
    finally:
        training.undo()


def arm(script: Callable[..., Any], *changes: str, **given: Any) -> Ran:
    """The script under changes."""
    ran = Ran()
    with changed(*changes) as training:
        try:
            ran.result = script(**given)
        except Stopped as stop:
            ran.stopped = stop.why
        training.end()
    ran.said = [said for log in training.logs for said in log.said]
    ran.failed = [log.failed for log in training.logs if log.failed]
    return ran


def same(one: Tensors, other: Tensors) -> bool:
    """Bit for bit."""
    return len(one) == len(other) and all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


def data(rows: int = 64, features: int = 4, classes: int = 3) -> tuple[torch.Tensor, torch.Tensor]:
    random = torch.Generator().manual_seed(7)
    x = torch.randn(rows, features, generator=random)
    return x, (x @ torch.randn(features, classes, generator=random)).argmax(1)


def mlp(features: int = 4, out: int = 3) -> nn.Sequential:
    return nn.Sequential(nn.Linear(features, 8), nn.ReLU(), nn.Linear(8, out))


def weights(model: nn.Module) -> Tensors:
    return [one.detach().clone() for one in model.parameters()]
