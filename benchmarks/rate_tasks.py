"""Small trainings of many kinds, for the range test: optimizers, models, losses, accumulation, groups."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import nn
from torch.nn import functional as F
from torch.optim import SGD, Adam, AdamW, Optimizer, RMSprop

Data = tuple[torch.Tensor, torch.Tensor]
Loss = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@dataclass(frozen=True)
class Task:
    """One training; `optimizer` is given the model and the rate of its first group."""

    data: Callable[[], Data]
    model: Callable[[], nn.Module]
    optimizer: Callable[[nn.Module, float], Optimizer]
    loss: Loss
    batch: int
    accumulate: int = 1


def tabular(*, classes: int = 0, noise: float = 0.1, scale: float = 1.0) -> Data:
    stream = torch.Generator().manual_seed(1000)
    x = torch.randn(2048, 16, generator=stream)
    first = torch.randn(16, 24, generator=stream) / 4.0
    second = torch.randn(24, max(classes, 1), generator=stream) / math.sqrt(6.0)
    y = torch.tanh(1.5 * x @ first) @ second
    y = y + noise * torch.randn(y.shape, generator=stream)
    return x, (y.argmax(1) if classes else scale * y)


def gratings() -> Data:
    """Stripes of six directions in noise."""
    stream = torch.Generator().manual_seed(2000)
    y = torch.randint(6, (1536,), generator=stream)
    angle, phase = y * math.pi / 6.0, 6.28 * torch.rand(1536, generator=stream)
    across = torch.linspace(0.0, 9.4, 12)
    rows, columns = torch.meshgrid(across, across, indexing="ij")
    wave = rows * torch.cos(angle)[:, None, None] + columns * torch.sin(angle)[:, None, None]
    x = torch.sin(wave + phase[:, None, None])
    return (x + 1.3 * torch.randn(x.shape, generator=stream))[:, None], y


def letters() -> Data:
    """Windows of a text in which two letters tell the odds of the next."""
    stream = torch.Generator().manual_seed(3000)
    odds = torch.softmax(2.0 * torch.randn(24, 24, 24, generator=stream), -1).cumsum(-1)
    draws, text = torch.rand(20_000, generator=stream), [0, 1]
    for draw in draws:
        text.append(int(torch.searchsorted(odds[text[-2], text[-1]], draw).clamp(max=23)))
    windows = torch.tensor(text).unfold(0, 25, 19)
    return windows[:, :-1], windows[:, 1:]


def running_sums() -> Data:
    stream = torch.Generator().manual_seed(5)
    x = torch.randn(1024, 20, 2, generator=stream)
    return x, 0.3 * (x[..., :1] * (x[..., 1:] > 0)).cumsum(1)


def curves() -> Data:
    stream = torch.Generator().manual_seed(6)
    x = torch.tanh(torch.randn(2048, 6, generator=stream) @ torch.randn(6, 40, generator=stream))
    x = x + 0.05 * torch.randn(2048, 40, generator=stream)
    return x, x


def bags() -> Data:
    """Words, some of which tell the class."""
    stream = torch.Generator().manual_seed(7)
    y = torch.randint(2, (2048,), generator=stream)
    x = torch.randint(0, 400, (2048, 30), generator=stream)
    telling = torch.rand(2048, 30, generator=stream) < 0.15
    return torch.where(telling, x % 40 + 40 * y[:, None], x), y


def mlp(sizes: tuple[int, ...], activation: type[nn.Module] = nn.ReLU) -> nn.Sequential:
    parts: list[nn.Module] = []
    for width, after in itertools.pairwise(sizes):
        parts += [nn.Linear(width, after), activation()]
    return nn.Sequential(*parts[:-1])


def cnn(*, norm: bool) -> nn.Sequential:
    def stage(channels: int, after: int) -> list[nn.Module]:
        return [nn.Conv2d(channels, after, 3, padding=1), *([nn.BatchNorm2d(after)] * norm), nn.ReLU()]

    pool = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(24, 6)]
    return nn.Sequential(*stage(1, 12), nn.MaxPool2d(2), *stage(12, 24), *pool)


class Recurrent(nn.Module):
    def __init__(self, first: nn.Module, cell: nn.Module, last: nn.Module) -> None:
        super().__init__()
        self.first, self.cell, self.last = first, cell, last

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = self.last(self.cell(self.first(x))[0])
        return answer


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.letters, self.places = nn.Embedding(24, 48), nn.Parameter(0.02 * torch.randn(24, 48))
        layer = nn.TransformerEncoderLayer(48, 4, 96, dropout=0.0, batch_first=True, norm_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.last = nn.Linear(48, 24)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        answer: torch.Tensor = self.last(self.body(self.letters(x) + self.places, mask=mask, is_causal=True))
        return answer


class Bag(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.words, self.head = nn.Embedding(400, 32), nn.Linear(32, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        answer: torch.Tensor = self.head(self.words(x).mean(1))
        return answer


def next_letter(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return F.cross_entropy(output.flatten(0, 1), target.flatten())


def sgd(model: nn.Module, lr: float) -> Optimizer:
    return SGD(model.parameters(), lr)


def momentum(model: nn.Module, lr: float) -> Optimizer:
    return SGD(model.parameters(), lr, momentum=0.9)


def adam(model: nn.Module, lr: float) -> Optimizer:
    return Adam(model.parameters(), lr)


def adamw(model: nn.Module, lr: float) -> Optimizer:
    return AdamW(model.parameters(), lr)


def rmsprop(model: nn.Module, lr: float) -> Optimizer:
    return RMSprop(model.parameters(), lr)


def two_groups(model: nn.Module, lr: float) -> Optimizer:
    """The words learn ten times as fast as the head."""
    words, head = model.words.parameters(), model.head.parameters()  # type: ignore[union-attr, operator]
    return AdamW([{"params": words, "lr": lr}, {"params": head, "lr": lr / 10.0}])


TASKS = {
    "MLP, regression, SGD": Task(tabular, lambda: mlp((16, 64, 64, 1)), sgd, F.mse_loss, 64),
    "MLP, regression, Adam": Task(tabular, lambda: mlp((16, 64, 64, 1)), adam, F.mse_loss, 64),
    "MLP, targets in hundreds, SGD": Task(
        lambda: tabular(scale=100.0), lambda: mlp((16, 64, 64, 1)), sgd, F.mse_loss, 64
    ),
    "MLP, noisy targets, batches of 4, SGD": Task(
        lambda: tabular(noise=1.0), lambda: mlp((16, 32, 32, 1)), sgd, F.mse_loss, 4
    ),
    "MLP, 8 classes, momentum": Task(
        lambda: tabular(classes=8), lambda: mlp((16, 64, 64, 8)), momentum, F.cross_entropy, 64
    ),
    "MLP, 8 classes, RMSprop": Task(
        lambda: tabular(classes=8), lambda: mlp((16, 64, 64, 8)), rmsprop, F.cross_entropy, 64
    ),
    "MLP, 4 x 8 accumulated, momentum": Task(
        lambda: tabular(classes=8), lambda: mlp((16, 64, 64, 8)), momentum, F.cross_entropy, 8, 4
    ),
    "linear, 4 classes, SGD": Task(
        lambda: tabular(classes=4), lambda: nn.Linear(16, 4), sgd, F.cross_entropy, 32
    ),
    "bag of words, two groups, AdamW": Task(bags, Bag, two_groups, F.cross_entropy, 32),
    "autoencoder, Adam": Task(curves, lambda: mlp((40, 32, 40), nn.Tanh), adam, F.mse_loss, 64),
    "LSTM, regression, RMSprop": Task(
        running_sums,
        lambda: Recurrent(nn.Identity(), nn.LSTM(2, 24, batch_first=True), nn.Linear(24, 1)),
        rmsprop,
        F.mse_loss,
        32,
    ),
    "GRU, next letter, Adam": Task(
        letters,
        lambda: Recurrent(nn.Embedding(24, 48), nn.GRU(48, 48, batch_first=True), nn.Linear(48, 24)),
        adam,
        next_letter,
        16,
    ),
    "transformer, next letter, AdamW": Task(letters, Transformer, adamw, next_letter, 16),
    "CNN, pictures, AdamW": Task(gratings, lambda: cnn(norm=False), adamw, F.cross_entropy, 32),
    "CNN with batch norm, momentum": Task(gratings, lambda: cnn(norm=True), momentum, F.cross_entropy, 32),
}
