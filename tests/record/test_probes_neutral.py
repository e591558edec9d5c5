"""A training is the same, bit for bit, with every probe looking at every step."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn

from traindx.observe.data import batches
from traindx.observe.torch.activation_probe import ActivationProbe
from traindx.observe.torch.gradient_norms import global_norm
from traindx.observe.torch.graph_structure import depth, residuals
from traindx.observe.torch.layer_probe import LayerProbe
from traindx.observe.torch.model_facts import model_facts
from traindx.observe.torch.naming import Names
from traindx.observe.torch.setup_facts import optimizer_facts

Made = tuple[nn.Module, Callable[[], torch.Tensor]]


def mlp() -> Made:
    model = nn.Sequential(nn.Linear(20, 70), nn.ReLU(), nn.Dropout(0.3), nn.Linear(70, 5))
    return model, lambda: F.cross_entropy(model(torch.randn(16, 20)), torch.randint(0, 5, (16,)))


def cnn() -> Made:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8)
            self.conv2, self.fc = nn.Conv2d(8, 8, 3, padding=1), nn.Linear(8 * 16, 4)
            self.relu = nn.ReLU(inplace=True)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = self.relu(self.bn1(self.conv1(x)))
            x = F.max_pool2d(F.relu_(self.conv2(x) + x), 2)
            return self.fc(F.dropout(x.flatten(1), 0.2, self.training))

    model = Net()
    return model, lambda: F.cross_entropy(model(torch.randn(6, 3, 8, 8)), torch.randint(0, 4, (6,)))


def lstm() -> Made:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(30, 12, sparse=False)
            self.rnn = nn.LSTM(12, 16, num_layers=2, dropout=0.2, batch_first=True)
            self.out = nn.Linear(16, 30)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.out(torch.tanh(self.rnn(self.words(x))[0]))

    model = Net()

    def loss() -> torch.Tensor:
        x = torch.randint(0, 30, (4, 9))
        return F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())

    return model, loss


def transformer() -> Made:
    class Net(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.words = nn.Embedding(30, 16)
            self.body = nn.TransformerEncoder(
                nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, activation="gelu"),
                2,
                enable_nested_tensor=False,
            )
            self.head = nn.Linear(16, 30, bias=False)
            self.head.weight = self.words.weight

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.head(self.body(self.words(x)))

    model = Net()

    def loss() -> torch.Tensor:
        x = torch.randint(0, 30, (4, 9))
        return F.cross_entropy(model(x[:, :-1]).flatten(0, 1), x[:, 1:].flatten())

    return model, loss


class Probes:
    """All of them, at every step."""

    def __init__(self, model: nn.Module, optimizer: torch.optim.Optimizer) -> None:
        self.model, self.optimizer = model, optimizer
        self.names = Names()
        self.names.refresh([optimizer])
        self.layers, self.activations = LayerProbe(self.names), ActivationProbe(self.names)
        self.batches = batches.Batches()
        self.seen: set[str] = set()
        model_facts(model, self.names)
        optimizer_facts(optimizer, [optimizer], self.names.roots, self.names)

    def loss(self, loss: Callable[[], torch.Tensor]) -> torch.Tensor:
        self.activations.arm()
        found = loss()
        self.activations.disarm()
        residuals(found.grad_fn)
        depth(found.grad_fn)
        return found

    def step(self, step: int) -> None:
        global_norm(self.model.parameters())
        self.layers.before(self.optimizer, True)
        self.optimizer.step()
        self.layers.after(self.optimizer, False)
        told = self.layers.collect()
        assert told is not None
        names, found = self.activations.collect()
        self.seen |= {
            name for name, mean in zip(names, found["activation_mean"], strict=True) if mean is not None
        }
        given = self.activations.root_input
        assert given is not None
        batches.input_statistics(given)
        self.batches.input(given, step)


def state(model: nn.Module, optimizer: torch.optim.Optimizer) -> list[Any]:
    held = [one.clone() for one in model.state_dict().values()]
    held += [
        one.clone() for each in optimizer.state.values() for one in each.values() if torch.is_tensor(one)
    ]
    return [*held, torch.get_rng_state(), torch.tensor(np.random.get_state()[1].astype(np.int64))]


def train(
    make: Callable[[], Made], build: Callable[[Any], torch.optim.Optimizer], *, probed: bool
) -> list[Any]:
    torch.manual_seed(3)
    np.random.seed(3)
    random.seed(3)
    model, loss = make()
    optimizer = build(model.parameters())
    probes = Probes(model, optimizer) if probed else None
    for step in range(20):
        optimizer.zero_grad()
        found = probes.loss(loss) if probes else loss()
        found.backward()
        if probes:
            probes.step(step)
        else:
            optimizer.step()
    if probes:
        assert len(probes.seen) > 2
    return [*state(model, optimizer), torch.tensor(random.random())]


OPTIMIZERS: list[Callable[[Any], torch.optim.Optimizer]] = [
    lambda held: torch.optim.AdamW(held, 0.01),
    lambda held: torch.optim.SGD(held, 0.05, momentum=0.9, foreach=True),
    lambda held: torch.optim.Adam(held, 0.01, fused=True),
    lambda held: torch.optim.RMSprop(held, 0.01, foreach=False),
]


@pytest.mark.parametrize(("make", "build"), list(zip([mlp, cnn, lstm, transformer], OPTIMIZERS, strict=True)))
def test_nothing_changes(make: Callable[[], Made], build: Callable[[Any], torch.optim.Optimizer]) -> None:
    torch.set_num_threads(1)
    plain, probed = train(make, build, probed=False), train(make, build, probed=True)
    assert len(plain) == len(probed)
    assert all(torch.equal(one, other) for one, other in zip(plain, probed, strict=True))
    again = train(make, lambda held: torch.optim.SGD(held, 0.01), probed=False)
    assert not all(torch.equal(one, other) for one, other in zip(plain, again, strict=False))
