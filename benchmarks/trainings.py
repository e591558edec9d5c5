"""The three trainings that recording is measured on: small and quick, convolutional, a transformer."""

from __future__ import annotations

from collections.abc import Callable
from itertools import cycle

import torch
from torch import nn
from torch.nn import functional

BATCHES = 64


class Training:
    """A plain training loop over batches that are already there; `after` is called with each loss."""

    def __init__(self, model: nn.Module, batches: list[tuple[torch.Tensor, torch.Tensor]]) -> None:
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
        self.batches = cycle(batches)

    def run(self, steps: int, after: Callable[[torch.Tensor], object] | None = None) -> None:
        for _ in range(steps):
            inputs, targets = next(self.batches)
            self.optimizer.zero_grad()
            loss = functional.cross_entropy(self.model(inputs), targets)
            loss.backward()
            self.optimizer.step()
            if after is not None:
                after(loss)


def mlp() -> Training:
    """Four layers of width 256, batches of 64."""
    torch.manual_seed(0)
    model = nn.Sequential(
        *(nn.Linear(256, 256), nn.ReLU()),
        *(nn.Linear(256, 256), nn.ReLU()),
        *(nn.Linear(256, 256), nn.ReLU()),
        nn.Linear(256, 10),
    )
    return Training(model, [(torch.randn(64, 256), torch.randint(10, (64,))) for _ in range(BATCHES)])


class Residual(nn.Module):
    """Two convolutions and a way around them."""

    def __init__(self, inside: int, outside: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inside, outside, 3, stride, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(outside)
        self.conv2 = nn.Conv2d(outside, outside, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(outside)
        self.relu1 = nn.ReLU()
        self.relu2 = nn.ReLU()
        self.around: nn.Module = nn.Identity()
        if inside != outside:
            self.around = nn.Sequential(
                nn.Conv2d(inside, outside, 1, stride, bias=False), nn.BatchNorm2d(outside)
            )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.relu1(self.norm1(self.conv1(x)))
        return self.relu2(self.norm2(self.conv2(y)) + self.around(x))


def cnn() -> Training:
    """ResNet-18 as it is used on 32x32 pictures, batches of 32."""
    torch.manual_seed(0)
    stages = [(64, 64, 1), (64, 64, 1), (64, 128, 2), (128, 128, 1)]
    stages += [(128, 256, 2), (256, 256, 1), (256, 512, 2), (512, 512, 1)]
    model = nn.Sequential(
        nn.Conv2d(3, 64, 3, padding=1, bias=False),
        nn.BatchNorm2d(64),
        nn.ReLU(),
        *(Residual(*stage) for stage in stages),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(512, 10),
    )
    return Training(model, [(torch.randn(32, 3, 32, 32), torch.randint(10, (32,))) for _ in range(BATCHES)])


class Block(nn.Module):
    """Causal attention and a feed-forward part, each beside a residual path."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.norm2 = nn.LayerNorm(width)
        self.widen = nn.Linear(width, 4 * width)
        self.gelu = nn.GELU()
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, width = x.shape
        parts = self.qkv(self.norm1(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4).unbind(0)
        seen = functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.out(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(self.gelu(self.widen(self.norm2(x))))


class Transformer(nn.Module):
    """A GPT of 10.7 million parameters over single characters."""

    def __init__(self, *, layers: int = 6, width: int = 384, length: int = 128, words: int = 96) -> None:
        super().__init__()
        self.tokens = nn.Embedding(words, width)
        self.places = nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, 6) for _ in range(layers))
        self.norm = nn.LayerNorm(width)
        self.head = nn.Linear(width, words, bias=False)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        x = self.tokens(tokens) + self.places.weight
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x)).flatten(0, 1)


def gpt() -> Training:
    """Six layers of width 384, 128 tokens, batches of 8."""
    torch.manual_seed(0)
    texts = [torch.randint(96, (8, 129)) for _ in range(BATCHES)]
    return Training(Transformer(), [(text[:, :-1], text[:, 1:].flatten()) for text in texts])


TRAININGS = {"MLP": mlp, "CNN": cnn, "GPT": gpt}
