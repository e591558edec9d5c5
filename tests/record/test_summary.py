"""What is told once: models, optimizers, settings, loaders, schedulers, skip connections in the graph."""

from __future__ import annotations

import json
import math
import sys

import numpy as np
import pytest
import torch
from torch import nn
from torch.optim import lr_scheduler
from torch.utils.data import DataLoader, IterableDataset, TensorDataset, WeightedRandomSampler

from traindx.observe.torch.graph_structure import depth, residuals
from traindx.observe.torch.model_facts import model_facts
from traindx.observe.torch.naming import Names
from traindx.observe.torch.setup_facts import (
    library_facts,
    loader_facts,
    optimizer_facts,
    scheduler_facts,
    seed_facts,
    settings_of,
)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(16)
        self.attention = nn.MultiheadAttention(16, 2, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.GELU(), nn.Linear(64, 16), nn.Dropout(0.1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h = self.norm(x)
        x = x + self.attention(h, h, h, need_weights=False)[0]
        return x + self.mlp(x)


class Gpt(nn.Module):
    def __init__(self, blocks: int = 3) -> None:
        super().__init__()
        self.tokens = nn.Embedding(40, 16)
        self.places = nn.Embedding(8, 16)
        self.blocks = nn.ModuleList(Block() for _ in range(blocks))
        self.head = nn.Linear(16, 40, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.tokens(x) + self.places(torch.arange(x.shape[1]))
        for block in self.blocks:
            y = block(y)
        return self.head(y)


@pytest.fixture(autouse=True)
def _seed() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)


def facts_of(model: nn.Module) -> dict[str, object]:
    names = Names()
    names.saw(model)
    found = model_facts(model, names)
    json.dumps(found, allow_nan=False)
    return found


def test_a_transformer() -> None:
    model = Gpt()
    model.places.requires_grad_(False)
    told = facts_of(model)
    assert told["class"] == "Gpt"
    assert told["parameters"] == sum(one.numel() for one in model.parameters())
    assert told["trainable"] == told["parameters"] - 8 * 16
    assert told["activations"] == {"GELU": 3}
    assert told["normalisation"] == {"LayerNorm": 3}
    assert told["dropout"] == [0.1]
    assert told["shared"] == [["tokens.weight", "head.weight"]]
    assert told["dtypes"] == {"float32": told["parameters"]}
    assert told["devices"] == {"cpu": told["parameters"]}
    assert told["frozen"] == {"count": 1, "names": ["places.weight"], "initial": 0, "elements": 8 * 16}
    assert told["embeddings"][0] == {"name": "tokens", "size": 40, "width": 16}
    assert told["output_width"] == 40
    assert told["attention"] is True
    assert told["recurrent"] is False
    assert told["blocks"] == 3
    assert json.dumps(told)


def test_initial_weights_of_each_layer() -> None:
    model = nn.Sequential(nn.Conv2d(3, 8, 5), nn.BatchNorm2d(8), nn.Flatten(), nn.Linear(400, 300), nn.Tanh())
    told = {one["name"]: one for one in facts_of(model)["layer_list"]}
    assert list(told) == ["0", "1", "3"]
    conv = told["0"]
    assert conv["type"] == "Conv2d"
    assert conv["shape"] == [8, 3, 5, 5]
    assert conv["parameters"] == 608
    weight = model[0].weight.detach()
    assert conv["init"]["mean"] == pytest.approx(weight.mean().item(), abs=1e-6)
    assert conv["init"]["std"] == pytest.approx(weight.std(unbiased=False).item(), rel=1e-5)
    assert conv["init"]["fan_in"] == 75
    assert conv["init"]["gain"] == pytest.approx(weight.std(unbiased=False).item() * math.sqrt(75), rel=1e-5)
    assert told["3"]["init"]["gain"] == pytest.approx(1 / math.sqrt(3), rel=0.03)
    assert facts_of(model)["layers"] == 2


def test_recurrent_and_lazy_models() -> None:
    assert facts_of(nn.Sequential(nn.LSTM(4, 5, num_layers=3)))["layers"] == 3
    assert facts_of(nn.Sequential(nn.GRUCell(4, 5)))["recurrent"] is True
    lazy = nn.Sequential(nn.LazyLinear(3), nn.Linear(3, 1))
    assert facts_of(lazy)["parameters"] == 4


def test_an_optimizer_and_what_it_does_not_hold() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Linear(4, 2), nn.Linear(2, 1))
    model[1].bias.requires_grad_(False)
    groups = [
        {"params": [model[0].weight, model[1].weight], "weight_decay": 0.1},
        {"params": [model[0].bias, model[1].bias], "weight_decay": 0.0, "lr": 0.5},
    ]
    optimizer = torch.optim.AdamW(groups, lr=torch.tensor(0.01), betas=(0.8, 0.95), foreach=False)
    names = Names()
    names.refresh([optimizer])
    told = optimizer_facts(optimizer, [optimizer], names.roots, names)
    assert told["class"] == "AdamW"
    assert told["parameters"] == 4
    assert told["elements"] == 12 + 4 + 8 + 2
    assert told["not_held"] == ["2.weight", "2.bias"]
    assert told["frozen"] == ["1.bias"]
    first, second = told["groups"]
    assert first["lr"] == pytest.approx(0.01)
    assert first["foreach"] is False
    assert second["lr"] == 0.5
    assert second["betas"] == [0.8, 0.95]
    other = torch.optim.SGD(model[2].parameters(), 0.1)
    assert optimizer_facts(optimizer, [optimizer, other], names.roots, names)["not_held"] == []
    json.dumps(told)
    settings = settings_of([facts_of(model)], told)
    assert settings["optimizer"] == "AdamW"
    assert settings["lr"] == pytest.approx(0.01)
    assert settings["weight_decay"] == 0.1
    assert settings["beta1"] == 0.8
    assert settings["beta2"] == 0.95
    assert settings["model"] == "Sequential"
    assert settings["trainable_parameters"] == settings["model_parameters"] - 2
    assert settings["layers"] == 3
    assert "momentum" not in settings
    assert "dropout" not in settings


def test_settings_of_a_transformer_and_of_several_models() -> None:
    model = Gpt()
    optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
    names = Names()
    names.refresh([optimizer])
    told = optimizer_facts(optimizer, [optimizer], names.roots, names)
    settings = settings_of([facts_of(model)], told)
    assert settings["momentum"] == 0.9
    assert settings["vocab_size"] == 40
    assert settings["width"] == 16
    assert settings["layers"] == 3
    assert settings["dropout"] == 0.1
    both = settings_of([facts_of(model), facts_of(nn.Linear(2, 2))], told)
    kinds = {
        "class": "Bert",
        "embeddings": [{"size": 2, "width": 8}, {"size": 30000, "width": 8}],
        "output_width": 2,
    }
    bert = settings_of([facts_of(model) | kinds], told)
    assert bert["vocab_size"] == 30000
    assert both["model"] == "Gpt + Linear"
    assert both["model_parameters"] == settings["model_parameters"] + 6
    assert "layers" not in both


def test_loaders() -> None:
    data = TensorDataset(torch.zeros(10, 2))
    assert loader_facts(DataLoader(data, batch_size=4, shuffle=True, drop_last=True)) == {
        "batch_size": 4,
        "workers": 0,
        "shuffle": True,
        "sampler": "RandomSampler",
        "drop_last": True,
        "pin_memory": False,
        "persistent_workers": False,
        "dataset": "TensorDataset",
        "samples": 10,
        "batches": 2,
        "own_random": [],
        "worker_init": False,
    }
    assert loader_facts(DataLoader(data))["shuffle"] is False
    weighted = DataLoader(data, sampler=WeightedRandomSampler([1.0] * 10, 6))
    assert loader_facts(weighted)["shuffle"] is True
    assert loader_facts(weighted)["batches"] == 6
    assert loader_facts(DataLoader(data, batch_size=None))["batch_size"] is None


def test_generators_that_workers_copy_are_told() -> None:
    class Noisy(TensorDataset):
        def __init__(self) -> None:
            super().__init__(torch.zeros(10, 2))
            self.rng = np.random.default_rng(0)

    assert loader_facts(DataLoader(Noisy(), num_workers=2))["own_random"] == ["rng"]
    assert loader_facts(DataLoader(Noisy()))["own_random"] == []


def test_a_loader_of_a_stream_is_not_asked_how_long_it_is() -> None:
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(range(9))

        def __len__(self) -> int:
            return 3  # a lie that torch warns of, but only if somebody asks

    loader = DataLoader(Stream(), batch_size=1)
    told = loader_facts(loader)
    assert told["samples"] is None
    assert told["shuffle"] is None
    assert len(list(loader)) == 9


def test_a_dataset_that_cannot_answer() -> None:
    class Endless(torch.utils.data.Dataset):
        def __len__(self) -> int:
            raise ZeroDivisionError

        def __getitem__(self, index: int) -> int:
            return index

    assert loader_facts(DataLoader(Endless(), sampler=[1, 2, 3]))["samples"] is None


def test_schedulers() -> None:
    optimizer = torch.optim.SGD([nn.Parameter(torch.zeros(1))], 0.1)
    told = scheduler_facts(lr_scheduler.CosineAnnealingLR(optimizer, T_max=50, eta_min=1e-5))
    assert told["class"] == "CosineAnnealingLR"
    assert told["T_max"] == 50
    assert told["eta_min"] == 1e-5
    assert scheduler_facts(lr_scheduler.MultiStepLR(optimizer, [30, 80]))["milestones"] == [30, 80]
    assert scheduler_facts(lr_scheduler.ReduceLROnPlateau(optimizer, patience=7))["patience"] == 7
    json.dumps(scheduler_facts(lr_scheduler.LambdaLR(optimizer, lambda epoch: 1 / (epoch + 1))))


def test_libraries_and_seed() -> None:
    loaded = set(sys.modules)
    told = library_facts()
    assert told["torch"] == torch.__version__
    assert told["threads"] == 1
    assert set(sys.modules) == loaded
    state = torch.get_rng_state()
    assert seed_facts() == {"torch": 0, "set": True}
    assert torch.equal(state, torch.get_rng_state())
    generator = torch.Generator()
    torch.default_generator.manual_seed(generator.initial_seed())
    assert seed_facts()["set"] is False


def test_skip_connections_are_counted() -> None:
    model = Gpt(4)
    loss = model(torch.randint(0, 40, (2, 8))).square().mean()
    assert residuals(loss.grad_fn) == 8  # the sum of two embeddings is none
    plain = nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4))
    x = torch.randn(3, 4)
    assert residuals(plain(x).sum().grad_fn) == 0
    assert residuals((plain(x).sum() + plain(x).square().mean()).grad_fn) == 0
    h = plain(x)
    assert residuals((h + plain(h)).sum().grad_fn) == 1
    assert residuals((nn.Linear(4, 4)(h) + plain(h)).sum().grad_fn) == 1
    assert residuals((h + 0.04 * h**3).tanh().sum().grad_fn) == 0  # part of an activation


def test_depth_is_the_longest_way() -> None:
    deep = nn.Sequential(*(nn.Linear(4, 4) for _ in range(7)))
    x = torch.randn(3, 4)
    assert depth(deep(x).sum().grad_fn) == 7
    h = nn.Linear(4, 4)(x)
    assert depth((h + deep(h)).sum().grad_fn) == 8
    assert depth(nn.Conv2d(1, 2, 3)(torch.randn(1, 1, 5, 5)).sum().grad_fn) == 1


def test_a_graph_of_any_size_is_walked() -> None:
    x = torch.ones(2, requires_grad=True) * 1
    y = x
    for _ in range(30_000):
        y = y + 1
    assert residuals(y.sum().grad_fn) == 0
    assert depth(y.sum().grad_fn) == 0


def test_frozen_layers_that_were_never_loaded_are_known() -> None:
    torch.manual_seed(0)
    body, trained = nn.Linear(32, 64), nn.Linear(64, 64)
    optimizer = torch.optim.SGD(trained.parameters(), lr=0.5)
    for _ in range(20):
        loss = (trained(torch.randn(64, 64)) - 1.0).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model = nn.Sequential(body, nn.ReLU(), trained, nn.ReLU(), nn.Linear(64, 3))
    names = Names()
    assert model_facts(model, names)["frozen"]["initial"] == 0
    body.requires_grad_(False)
    trained.requires_grad_(False)
    frozen = model_facts(model, names)["frozen"]
    assert (frozen["initial"], frozen["elements"]) == (32 * 64, 32 * 64 + 64 + 64 * 64 + 64)
