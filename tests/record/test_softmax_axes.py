"""Softmaxes over another axis than the classes are found in losses of many forms; those meant are not."""

from __future__ import annotations

from pathlib import Path

import pytest

import traindx
from tests.warm import ran, record
from traindx.engine import diagnose

HEAD = """
import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(0)
N, C, T = 12, 3, 10
def images():
    y = torch.randint(0, C, (N, 1, 2, 3)).repeat_interleave(4, 2).repeat_interleave(3, 3)[:, 0]
    return torch.randn(N, 2, 8, 9), y

rows = lambda: (torch.randn(N, 6), torch.randint(0, C, (N,)))
tokens = lambda: (torch.randn(N, T, 6), torch.randint(0, C, (N, T)))
series = lambda: (torch.randn(N, 6, T), torch.randint(0, C, (N, T)))
hot = lambda y: F.one_hot(y, C).movedim(-1, 1).float()
conv = nn.Sequential(nn.Conv2d(2, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, C, 1))
conv1 = nn.Sequential(nn.Conv1d(6, 8, 3, padding=1), nn.ReLU(), nn.Conv1d(8, C, 1))
mlp = nn.Sequential(nn.Linear(6, 8), nn.ReLU(), nn.Linear(8, C))
lone = nn.Linear(6, 1)
wide = nn.Linear(6, 6)

def dice(p, t):
    axes = [axis for axis in range(p.dim()) if axis != 1]
    return 1 - ((2 * (p * t).sum(axes) + 1) / (p.sum(axes) + t.sum(axes) + 1)).mean()
"""
TAIL = """
used = [p for m in (MODELS) for p in m.parameters()]
optimizer = torch.optim.Adam(used, lr=1e-3)
for step in range(12):
    x, y = data()
    loss = compare(x, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print([p.detach().double().sum().item().hex() for p in used])
"""
FAULTY = {
    "dice over the width": ("images", "return dice(conv(x).softmax(dim=-1), hot(y))", 3, 1),
    "dice over the height": ("images", "return dice(conv(x).softmax(dim=2), hot(y))", 2, 1),
    "dice over the batch": ("images", "return dice(F.softmax(conv(x), dim=0), hot(y))", 0, 1),
    "without the background": (
        "images",
        "return dice(conv(x).softmax(-1)[:, 1:], hot(y)[:, 1:])",
        3,
        1,
    ),
    "resized and flat": (
        "images",
        "z = F.interpolate(conv(F.avg_pool2d(x, 2)), size=(8, 9), mode='bilinear')\n"
        "    return dice(z.softmax(-1).flatten(2), hot(y).flatten(2))",
        3,
        1,
    ),
    "classes moved to the end": (
        "images",
        "return dice(conv(x).permute(0, 2, 3, 1).softmax(1).permute(0, 3, 1, 2), hot(y))",
        1,
        3,
    ),
    "negative log likelihood of images": ("images", "return F.nll_loss(conv(x).log_softmax(-1), y)", 3, 1),
    "negative log likelihood over the batch": ("rows", "return F.nll_loss(mlp(x).log_softmax(0), y)", 0, 1),
    "by hand over the batch": (
        "rows",
        "return -(mlp(x).softmax(0) + 1e-6).log()[torch.arange(N), y].mean()",
        0,
        1,
    ),
    "gathered": ("rows", "return -mlp(x).log_softmax(0).gather(1, y[:, None]).mean()", 0, 1),
    "squared": ("rows", "return (mlp(x).softmax(0) - hot(y)).square().mean()", 0, 1),
    "mean squared error": ("rows", "return F.mse_loss(mlp(x).softmax(0), hot(y))", 0, 1),
    "smoothed labels, weighted": (
        "rows",
        "t = 0.9 * hot(y) + 0.1 / C\n"
        "    return -((mlp(x) / 0.7).log_softmax(0) * torch.tensor([1.0, 2.0, 3.0]) * t).sum(1).mean()",
        0,
        1,
    ),
    "focal": (
        "images",
        "p = conv(x).softmax(-1)\n    return -((1 - p) ** 2 * p.clamp_min(1e-6).log() * hot(y)).mean()",
        3,
        1,
    ),
    "tokens over the time": (
        "tokens",
        "return F.nll_loss(mlp(x).log_softmax(1).reshape(-1, C), y.reshape(-1))",
        1,
        2,
    ),
    "series over the time": ("series", "return dice(conv1(x).softmax(-1), hot(y))", 2, 1),
}
MEANT = {
    "dice over the classes": ("images", "return dice(conv(x).softmax(dim=1), hot(y))"),
    "cross-entropy": ("images", "return F.cross_entropy(conv(x), y)"),
    "classes at the end": (
        "images",
        "return dice(conv(x).permute(0, 2, 3, 1).softmax(-1).permute(0, 3, 1, 2), hot(y))",
    ),
    "tokens": ("tokens", "return F.nll_loss(mlp(x).log_softmax(-1).flatten(0, 1), y.flatten())"),
    "pooling over the time": (
        "series",
        "p = (conv1(x).tanh().softmax(-1) * conv1(x).sigmoid()).sum(-1)\n"
        "    return F.binary_cross_entropy(p, hot(y).amax(-1))",
    ),
    "pooling by attention of instances": (
        "rows",
        "return F.cross_entropy(lone(x).softmax(0).T @ mlp(x), y[:1])",
    ),
    "attention of places": (
        "tokens",
        "w = mlp(x).softmax(1)\n"
        "    return F.cross_entropy(torch.einsum('ntc,ntd->ncd', w, wide(x))[..., 0], y[:, 0])",
    ),
    "a gate of each sample": (
        "rows",
        "experts = torch.stack([mlp(x), mlp(-x), mlp(x * 2)], 1)\n"
        "    return F.cross_entropy((mlp(x).softmax(-1)[..., None] * experts).sum(1), y)",
    ),
    "coordinates of a maximum": (
        "images",
        "p = conv(x).softmax(-1)\n"
        "    return F.mse_loss((p * torch.linspace(-1, 1, 9)).sum((2, 3)), torch.rand(N, C))",
    ),
    "maps of one place": (
        "series",
        "t = F.one_hot(y[:, :C], T).float()\n    return -(conv1(x).log_softmax(-1) * t).sum(-1).mean()",
    ),
    "blurred maps of places": (
        "series",
        "t = (-(torch.arange(T) - y[:, :C, None] * 3.0) ** 2 / 4).softmax(-1)\n"
        "    return F.kl_div(conv1(x).log_softmax(-1), t, reduction='batchmean')",
    ),
    "start and end of an answer": (
        "tokens",
        "z = mlp(x).log_softmax(1)\n"
        "    return F.nll_loss(z[..., 0], y[:, 0]) + F.nll_loss(z[..., 1], y[:, 1] + 2)",
    ),
    "start and end, picked": (
        "tokens",
        "return -mlp(x).log_softmax(1).gather(1, y[:, :1, None].expand(-1, -1, C)).mean()",
    ),
    "ranked lists": (
        "rows",
        "t = torch.rand(N, C).softmax(0)\n    return -(mlp(x).log_softmax(0) * t).sum()",
    ),
    "both directions of pairs": (
        "rows",
        "z = F.normalize(wide(x), dim=1) @ F.normalize(wide(x + 0.1), dim=1).T * 5\n"
        "    same = torch.eye(N)\n    return -((z.log_softmax(0) + z.log_softmax(1)) * same).sum() / N",
    ),
    "several captions of a picture": (
        "rows",
        "z = wide(x[: N // 3]) @ wide(x).T\n"
        "    own = (torch.arange(N) // 3 == torch.arange(N // 3)[:, None]).float()\n"
        "    return -(z.log_softmax(1) * own).sum() / N - (z.log_softmax(0) * own).sum() / N",
    ),
    "which head counts": (
        "series",
        "w = F.one_hot(y[:, 0], C).float()[..., None]\n"
        "    return -((conv1(x).softmax(-1) * w).sum(1)[torch.arange(N), y[:, 1]] + 1e-6).log().mean()",
    ),
    "masked weights": (
        "series",
        "m = (torch.arange(T) < torch.randint(4, T, (N, 1))).float()[:, None].repeat(1, C, 1)\n"
        "    w = conv1(x).softmax(-1) * m\n    w = w / w.sum(-1, keepdim=True)\n"
        "    return F.mse_loss((w * x[:, :C]).sum(-1), torch.rand(N, C))",
    ),
    "self-attention": (
        "tokens",
        "q = wide(x)\n    a = (q @ q.transpose(1, 2)).softmax(-1)\n"
        "    return F.cross_entropy(mlp(a @ x).flatten(0, 1), y.flatten())",
    ),
    "attention over queries": (
        "tokens",
        "a = mlp(x).softmax(-1)\n    a = a / a.sum(1, keepdim=True)\n"
        "    return F.cross_entropy(mlp(a.transpose(1, 2) @ x).flatten(0, 1), y[:, :C].flatten())",
    ),
    "two softmaxes": (
        "rows",
        "z = mlp(x)\n    return F.nll_loss((z * z.softmax(0) * N).log_softmax(1), y)",
    ),
    "weights of rewards": (
        "rows",
        "z = mlp(x).log_softmax(-1)[torch.arange(N), y]\n    return -(z * torch.randn(N)).mean()",
    ),
}


def _written(folder: Path, data: str, body: str) -> None:
    compare = f"\ndata = {data}\ndef compare(x, y):\n    {body}\n"
    models = ", ".join(name for name in ("conv", "conv1", "mlp", "lone", "wide") if f"{name}(" in body)
    (folder / "train.py").write_text(HEAD + compare + TAIL.replace("MODELS", f"{models},"))
    recorded = record(folder, "r", "train.py")
    assert recorded.out == ran(folder, "train.py").out


@pytest.mark.parametrize("name", FAULTY)
def test_found(tmp_path: Path, name: str) -> None:
    data, body, axis, classes = FAULTY[name]
    _written(tmp_path, data, body)
    (run,) = traindx.read(tmp_path / "r").runs
    (found,) = run.facts["softmaxes"]["other_axis"]
    assert (found["axis"], found["class_axis"]) == (axis, classes)
    assert found["one_class"] == 1.0
    diagnosis = diagnose(tmp_path / "r")
    causes = [hypothesis.cause for hypothesis in diagnosis.problems[0].hypotheses[:2]]
    assert {"wrong_loss", "output_mismatch"} & {*causes}
    assert any(finding.id == "softmax_over_other_axis" for finding in diagnosis.problems[0].findings)


@pytest.mark.parametrize("name", MEANT)
def test_silent(tmp_path: Path, name: str) -> None:
    _written(tmp_path, *MEANT[name])
    diagnosis = diagnose(tmp_path / "r")
    (check,) = [check for check in diagnosis.coverage if check.check == "softmax_over_other_axis"]
    assert not check.seen
