"""Trainings whose batches are mappings and objects are recorded, and judged, as those of pairs are."""

from __future__ import annotations

import json
from collections import UserDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

import traindx
from traindx.observe import recorder as recorders
from traindx.observe import watch as watching

TRAINED, HELD_OUT, EPOCHS = 720, 240, 7


@dataclass
class Batch:
    y: torch.Tensor
    x: torch.Tensor


class Encoding(UserDict[str, Any]):
    pass


Form = Callable[[torch.Tensor, torch.Tensor], Any]
FORMS: dict[str, Form] = {
    "pair": lambda x, y: (x, y),
    "dict": lambda x, y: {"y": y, "x": x, "path": ["a"] * len(x)},
    "keywords": lambda x, y: Encoding(labels=y, inputs=x),
    "object": lambda x, y: Batch(y, x),
}


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 4))

    def forward(self, inputs: torch.Tensor, labels: torch.Tensor | None = None) -> torch.Tensor:
        logits: torch.Tensor = self.body(inputs)
        return logits if labels is None else F.cross_entropy(logits, labels)


def loss_of(model: Net, batch: Any) -> torch.Tensor:
    if isinstance(batch, Encoding):
        found: torch.Tensor = model(**batch)
        return found
    if isinstance(batch, dict):
        return F.cross_entropy(model(batch["x"]), batch["y"])
    x, y = batch if isinstance(batch, tuple) else (batch.x, batch.y)
    return F.cross_entropy(model(x), y)


def data(fault: str) -> tuple[torch.Tensor, torch.Tensor]:
    size = TRAINED + HELD_OUT
    y = torch.randint(0, 4, (size,))
    x = 1.2 * torch.randn(4, 20)[y] + torch.randn(size, 20)
    if fault == "shuffled":
        y = y[torch.randperm(size)]
    if fault == "broken":
        x[torch.randperm(TRAINED)[:6], 3] = torch.nan
    return (40 * x + 150 if fault == "unscaled" else x), y


def train(form: str, fault: str) -> list[float]:
    """All losses of a small training as users write it."""
    torch.manual_seed(0)
    x, y = data(fault)

    def collate(rows: list[tuple[torch.Tensor, torch.Tensor]]) -> Any:
        return FORMS[form](torch.stack([x for x, _ in rows]), torch.stack([y for _, y in rows]))

    loader = DataLoader(TensorDataset(x[:TRAINED], y[:TRAINED]), 30, shuffle=True, collate_fn=collate)
    held_out = DataLoader(TensorDataset(x[TRAINED:], y[TRAINED:]), 80, collate_fn=collate)
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    losses = []
    for _ in range(EPOCHS):
        model.train()
        for batch in loader:
            optimizer.zero_grad()
            loss = loss_of(model, batch)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        model.eval()
        with torch.no_grad():
            losses += [loss_of(model, batch).item() for batch in held_out]
    assert not any(len(one._forward_hooks) for one in model.modules())
    return losses


@pytest.fixture(autouse=True)
def _fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(recorders, "_current", None)
    monkeypatch.setattr(watching, "_latest", None)
    torch.set_num_threads(1)
    yield
    if watching._latest is not None:
        watching._latest.stop()


def recorded(form: str, fault: str) -> tuple[list[float], dict[str, Any], Path]:
    """The losses, what is told of the samples, and the recording."""
    with traindx.watch(name=form) as watch:
        losses = train(form, fault)
    told = json.loads((watch.folder / "run.json").read_text())["samples"]
    # How many steps are looked into depends on the clock.
    kept = {key: told.get(key) for key in told if key not in ("distinct", "validation")}
    kept["held_out"] = {key: told["validation"].get(key) for key in ("taken", "known", "rows")}
    return losses, kept, watch.folder


def judged(folder: Path) -> list[tuple[str, list[str]]]:
    """Each problem with its first cause; how fast it went is the machine's matter."""
    problems = [one for one in traindx.diagnose(folder).problems if one.symptom != "slow_training"]
    return [(one.symptom, [why.cause for why in one.hypotheses[:1]]) for one in problems]


@pytest.mark.parametrize(
    ("fault", "forms"),
    [
        ("none", ("dict", "keywords")),
        ("shuffled", ("dict", "keywords", "object")),
        ("broken", ("dict",)),
        ("unscaled", ("keywords",)),
    ],
)
def test_the_form_of_a_batch_changes_nothing(fault: str, forms: tuple[str, ...]) -> None:
    plain = torch.tensor(train("pair", fault))
    _, pairs, folder = recorded("pair", fault)
    problems = judged(folder)
    assert bool(problems) == (fault != "none")
    for form in forms:
        losses, samples, folder = recorded(form, fault)
        assert torch.equal(torch.tensor(losses).nan_to_num(-1.0), plain.nan_to_num(-1.0)), form
        assert samples == pairs, form
        assert judged(folder) == problems, form
