"""Random models, watched operation by operation: the slow obvious way to find where a NaN began."""

from __future__ import annotations

import random
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from traindx.observe.torch.graph import is_leaf, walk

CALM = {
    "relu": torch.relu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "gelu": F.gelu,
    "clamp": lambda x: x.clamp(-1, 1),
    "softmax": lambda x: x.softmax(-1),
    "cat": lambda x: torch.cat([x[:, :4], x[:, 4:]], 1),
    "pick": lambda x: x[:, torch.arange(7, -1, -1)],
    "residual": lambda x: x + torch.tanh(x),
    "product": lambda x: x * x.flip(-1),
    "dropout": lambda x: F.dropout(x, 0.5),
    "in place": lambda x: x.clone().mul_(3).add_(1),
    "sum": lambda x: x + x.sum(0, keepdim=True),
}
FORWARD_RISKS = {
    "log": torch.log,
    "log of size": lambda x: x.abs().log(),
    "sqrt": torch.sqrt,
    "exp": torch.exp,
    "power": lambda x: x**0.5,
    "cube": lambda x: x.pow(3),
    "share": lambda x: x / x.sum(-1, keepdim=True),
    "by relu": lambda x: x / x.relu(),
    "length": lambda x: x / x.norm(dim=-1, keepdim=True),
    "normal": lambda x: (x - x.mean(0)) / x.std(0),
    "log softmax": lambda x: x.softmax(-1).log(),
    "large": lambda x: x * 1000,
    "none": lambda x: x * 0,
    "rsqrt": lambda x: x.abs().rsqrt(),
    "inverse": lambda x: 1 / x.relu(),
    "log1p": torch.log1p,
    "acos": torch.acos,
    "atanh": torch.atanh,
    "expm1": torch.expm1,
    "cosh": torch.cosh,
    "where": lambda x: torch.where(x > 0, x.log(), x),
    "outer": lambda x: (x @ x.T) @ x,
}
BACKWARD_RISKS = {
    "root": lambda x: F.dropout(x.abs(), 0.5).sqrt(),
    "root where": lambda x: torch.where(x > 0, x.sqrt(), x),
    "log where": lambda x: torch.where(x > 0, x.log(), x),
    "division where": lambda x: torch.where(x.abs() > 2, x / x.relu(), x),
    "distance": lambda x: x + ((x[:, None] - x[None]) ** 2).sum(-1).sqrt().mean(),
    "angle": lambda x: torch.acos(x.clamp(-1, 1)),
    "length": lambda x: torch.hypot(F.dropout(x, 0.5), F.dropout(x, 0.5)),
    "power": lambda x: F.dropout(x.abs(), 0.5) ** 0.3,
}
LOSSES = {
    "mse": F.mse_loss,
    "square": lambda x, y: ((x - y) ** 2).mean(),
    "l1": lambda x, y: (x - y).abs().sum(),
    "cross entropy": lambda x, y: F.cross_entropy(x, y.argmax(1)),
    "mean": lambda x, y: (x + 0 * y).mean(),
    "root": lambda x, y: ((x - y) ** 2).mean().sqrt(),
}


class Program(nn.Module):
    """Layers `l0`, `l1`, ... of 8 units with random operations between them."""

    def __init__(self, seed: int, risks: dict[str, Any]) -> None:
        super().__init__()
        choose = random.Random(seed)
        torch.manual_seed(seed)
        self.plan: list[tuple[nn.Module, list[Any]]] = []
        steps = list(CALM.values()) + list(risks.values())
        for number in range(choose.randint(2, 4)):
            layer = choose.choice([nn.Linear(8, 8), nn.Linear(8, 8, bias=False), nn.LayerNorm(8)])
            self.add_module(f"l{number}", layer)
            self.plan.append((layer, choose.choices(steps, k=choose.choice([0, 1, 1, 2]))))
            with torch.no_grad():
                layer.weight.mul_(choose.choice([1, 1, 1, 10, 300]))
        self.loss = LOSSES[choose.choice(list(LOSSES))]
        self.half = choose.random() < 0.3

    def forward(self) -> Tensor:
        hidden, target = torch.randn(16, 8), torch.randn(16, 8)
        if self.half:
            self.half_precision()
            hidden, target = hidden.half(), target.half()
        for layer, steps in self.plan:
            hidden = layer(hidden)
            for step in steps:
                hidden = step(hidden)
        return self.loss(hidden, target)

    def half_precision(self) -> None:
        for parameter in self.parameters():
            parameter.data = parameter.data.half()


class Watcher(TorchDispatchMode):
    """Notes each operation that makes something non-finite of finite tensors."""

    def __init__(self) -> None:
        super().__init__()
        self.guilty: list[str] = []

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = function(*args, **(kwargs or {}))
        if _finite((args, kwargs)) and not _finite(result) and "empty" not in function.__name__:
            self.guilty.append(function.__name__.split(".")[0].replace("_", ""))
        return result


def watch_backward(loss: Tensor) -> list[str]:
    """Run the backward pass and give the nodes that made something non-finite of finite gradients."""
    guilty: list[str] = []

    def watched(node: Node) -> Any:
        def hook(made: Any, given: Any) -> None:
            if _finite(given) and not _finite(made):
                guilty.append(node.name())

        return hook

    assert loss.grad_fn is not None
    for node in walk(loss.grad_fn, deadline=float("inf")).nodes:
        if not is_leaf(node):
            node.register_hook(watched(node))
    loss.backward()
    return guilty


def _finite(values: Any) -> bool:
    tensors = [one for one in tree_leaves(values) if isinstance(one, Tensor) and one.is_floating_point()]
    return all(bool(one.isfinite().all()) for one in tensors)
