"""Reshapes where a transpose was meant are found in models and in images; merges and splits are not."""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from itertools import chain
from math import inf, prod
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from traindx.engine import diagnose
from traindx.observe.data.colour_planes import line_evenness
from traindx.observe.torch.graph import walk
from traindx.observe.torch.moved_axes import moved, moved_axes

PROGRAM = """
import sys
import torch
from torch import nn
from torch.nn import functional as F

mode = sys.argv[1]
torch.manual_seed(0)
BATCH, TIME, WIDTH, HEADS = 16, 12, 32, 4

class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn, self.out = nn.LSTM(6, 20, num_layers=2, batch_first=True), nn.Linear(40, 3)

    def forward(self, x):
        h = self.rnn(x)[1][0]
        return self.out(h.view(len(x), -1) if mode == "lstm" else h.transpose(0, 1).reshape(len(x), -1))

class Heads(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.qkv, self.out = nn.Linear(6, WIDTH), nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, 3)

    def apart(self, x):
        if mode == "heads":
            return x.reshape(len(x), HEADS, TIME, WIDTH // HEADS)
        return x.view(len(x), TIME, HEADS, WIDTH // HEADS).transpose(1, 2)

    def forward(self, x):
        q, k, v = map(self.apart, self.qkv(self.first(x)).chunk(3, -1))
        attended = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(len(x), TIME, WIDTH)
        return self.out(attended.mean(1))

class Encoder(nn.Module):
    # As many samples in a batch as numbers in a head.
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(4 * BATCH, 4, 64, batch_first=True)
        self.first, self.body = nn.Linear(6, 4 * BATCH), nn.TransformerEncoder(layer, 2)
        self.pool = nn.MultiheadAttention(4 * BATCH, 4)
        self.query = nn.Parameter(torch.randn(1, 1, 4 * BATCH))
        self.out = nn.Linear(4 * BATCH, 3)

    def forward(self, x):
        x = self.body(self.first(x)).transpose(0, 1)
        return self.out(self.pool(self.query.expand(1, x.shape[1], -1), x, x)[0][0])

class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv2d(12, 16, 3, padding=1), nn.Conv2d(4, 8, 3, padding=1)
        self.norm, self.out = nn.GroupNorm(4, 16), nn.Linear(8 * 16 * 16, 3)

    def forward(self, x):
        n, c, h, w = x.shape
        x = x.view(n, c, h // 2, 2, w // 2, 2).permute(0, 1, 3, 5, 2, 4).reshape(n, 4 * c, h // 2, w // 2)
        x = self.norm(self.first(x))
        grouped = x.reshape(n, 4, -1)
        x = (grouped - grouped.mean(-1, keepdim=True)).view_as(x)
        x = x.view(n, 4, 4, h // 2, w // 2).transpose(1, 2).reshape(n, 16, h // 2, w // 2)
        x = self.second(F.pixel_shuffle(F.relu(x), 2))
        return self.out(F.max_pool2d(x, 2).flatten(1))

def sequences(y):
    return torch.randn(BATCH, TIME, 6) + y[:, None, None] * torch.linspace(-1, 1, 6)

def images(y):
    places = torch.linspace(0, 6, 32)
    waves = torch.sin(places[None, :, None] * (1 + y[:, None, None]) + places + 6 * torch.rand(BATCH, 1, 1))
    colours = torch.rand(BATCH, 1, 1, 3)
    x = waves[..., None] * colours + torch.rand(BATCH, 1, 1, 3) + 0.05 * torch.randn(BATCH, 32, 32, 3)
    return x.reshape(BATCH, 3, 32, 32) if mode == "images" else x.permute(0, 3, 1, 2)

kind = mode.split()[-1]
model = {"lstm": Recurrent, "heads": Heads, "encoder": Encoder, "images": Images}[kind]()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(120):
    y = torch.randint(0, 3, (BATCH,))
    loss = F.cross_entropy(model((images if kind == "images" else sequences)(y)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    "kind", ["lstm", "heads", "images", "right lstm", "right heads", "right images", "encoder"]
)
def test_trainings(tmp_path: Path, kind: str) -> None:
    (tmp_path / "train.py").write_text(PROGRAM)
    command = [sys.executable, "-m", "traindx", "run", "--quiet", "--out", "rec", "train.py", kind]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, timeout=300)
    diagnosis = diagnose(tmp_path / "rec")
    causes = [[hypothesis.cause for hypothesis in problem.hypotheses] for problem in diagnosis.problems]
    if kind in ("lstm", "heads", "images"):
        assert (causes[0][0], diagnosis.problems[0].severity) == ("axes_mixed_up", "high")
    else:
        assert "axes_mixed_up" not in chain(*causes)


@pytest.mark.parametrize(
    ("before", "after", "size"),
    [
        ((2, 16, 40), (16, 80), 16),
        ((10, 16, 64), (16, 640), 16),
        ((8, 64, 32), (8, 4, 64, 8), 64),
        ((8, 4, 64, 8), (8, 64, 32), 64),
        ((8, 9, 128), (8, 128, 9), 9),
        ((8, 24, 24, 3), (8, 3, 24, 24), 3),
        # Of these sizes a split and a merge may be meant as well.
        ((8, 16, 128), (8, 128, 16), 0),
        ((10, 32, 128), (10, 128, 32), 0),
        ((10, 128, 32), (320, 128), 0),
        ((8, 56, 16), (56, 128), 0),
        ((64, 16), (4, 16, 2, 8), 0),
        ((8, 1, 16), (1, 8, 16, 1), 0),
        ((8, 0), (0, 8), 0),
        ((), (1,), 0),
    ],
)
def test_sizes(before: tuple[int, ...], after: tuple[int, ...], size: int) -> None:
    assert moved(before, after, (16, 10)) == size


def test_merges_and_splits_never_move_an_axis() -> None:
    chance = random.Random(0)
    for _ in range(3000):
        parts = [[chance.choice([1, 2, 3, 4, 6, 8]) for _ in range(chance.randint(1, 3))] for _ in range(4)]
        split, merged = [*chain(*parts)], [prod(part) for part in parts]
        mixed = [*chain(*(part if chance.random() < 0.5 else [prod(part)] for part in parts))]
        assert not moved(merged, split)
        assert not moved(split, merged)
        assert not moved(mixed, split)


def _views(result: torch.Tensor) -> dict[str, object]:
    assert result.grad_fn is not None
    return moved_axes(walk(result.sum().grad_fn, inf), lambda _: "layer")


def _shifted(scores: torch.Tensor) -> torch.Tensor:
    """Relative positions, as Transformer-XL aligns them."""
    rows, heads, time, places = scores.shape
    padded = nn.functional.pad(scores, (1, 0)).view(rows, heads, places + 1, time)
    return padded[:, :, 1:].view_as(scores)


@pytest.mark.parametrize(
    "change",
    [
        lambda x: x.permute(1, 0, 2).reshape(9, -1),
        lambda x: x.flatten(1).unflatten(1, (9, 2, 20)),
        lambda x: _shifted(x[:, None]),
        lambda x: torch.einsum("abc,dbc->adb", x, x),
        lambda x: x @ x.transpose(1, 2),
        # Statistics over groups of channels, as many groups as lines.
        lambda x: x.view(5, 18, 2, 10).reshape(5, 2, -1).softmax(-1).view(5, 18, 2, 10),
    ],
)
def test_axes_that_were_transposed_are_in_order(change: Callable[[torch.Tensor], torch.Tensor]) -> None:
    assert _views(change(torch.randn(5, 9, 40, requires_grad=True)))["moving"] == 0


def test_the_layer_before_is_named() -> None:
    out = nn.Linear(7, 40)(torch.randn(2, 9, 7)).view(9, 80)
    first = {"before": "2x9x40", "after": "9x80", "size": 9, "layer": "layer"}
    fact = _views(out)
    assert (fact["moving"], fact["first"]) == (1, [first])


def test_lines_of_images_are_even() -> None:
    chance = np.random.default_rng(0)
    rows, columns = np.mgrid[0:32, 0:32] / 32
    tilt = chance.normal(size=(8, 2, 3))
    slopes = tilt[:, 0, None, None] * rows[..., None] + tilt[:, 1, None, None] * columns[..., None]
    coloured = slopes + chance.normal(size=(8, 1, 1, 3)) + 0.05 * chance.normal(size=(8, 32, 32, 3))
    grey = np.repeat(slopes[..., :1] + 0.05 * chance.normal(size=(8, 32, 32, 1)), 3, -1)
    tinted = grey * [0.9, 1.0, 1.1] + [0.48, 0.45, 0.40]
    noise = chance.normal(size=(8, 32, 32, 3))
    for images in (coloured, grey, tinted, noise):
        for given in (images.astype(np.float32), torch.tensor(images)):
            planes = given.transpose(0, 3, 1, 2) if isinstance(given, np.ndarray) else given.movedim(-1, 1)
            assert (line_evenness(planes) or 0) > 0.85
    for images in (coloured, tinted):
        assert (line_evenness(images.reshape(8, 3, 32, 32)) or 1) < 0.6
    assert (line_evenness(noise.reshape(8, 3, 32, 32)) or 0) > 0.85
    flat = np.ones((8, 3, 32, 32))
    assert line_evenness(flat) is line_evenness(flat[:, :1]) is line_evenness(flat * np.nan) is None
