"""Modules and parameters that nobody expects."""

import dataclasses
import typing
import warnings

import torch
import torch.nn as nn
from fingerprint import result

warnings.simplefilter("error")
torch.manual_seed(0)
torch.set_num_threads(1)


@dataclasses.dataclass
class Out:
    hidden: torch.Tensor
    extra: typing.Any = None


class Stubborn(nn.Module):
    """No length, no truth value, no comparison, no repr."""

    def __init__(self):
        super().__init__()
        self.lin = nn.LazyLinear(12)
        self.empty = nn.Parameter(torch.zeros(0, 4))
        self.scalar = nn.Parameter(torch.tensor(1.0))
        self.phases = nn.Parameter(torch.randn(12, dtype=torch.complex64))
        self.wide = nn.Parameter(torch.ones(12, dtype=torch.float64))
        self.ids = nn.Parameter(torch.arange(3), requires_grad=False)
        self.register_parameter("nothing", None)
        self.register_buffer("count", torch.zeros((), dtype=torch.long))

    def __len__(self):
        raise TypeError("no length")

    def __bool__(self):
        raise TypeError("no truth")

    def __eq__(self, other):
        raise TypeError("no comparison")

    def __hash__(self):
        return 7

    def __repr__(self):
        raise TypeError("no repr")

    def forward(self, *, x, note=None):
        self.count += 1
        h = torch.relu(self.lin(x)) * self.scalar * self.wide.float()
        return Out(torch.fft.ifft(torch.fft.fft(h) * self.phases).real, {"note": note, "nested": [(h, None)]})


class Chatty(nn.Module):
    """Calls itself, returns None, a generator and a tensor by turns."""

    def __init__(self):
        super().__init__()
        self.weights = nn.ParameterList([nn.Parameter(torch.randn(12) / 4) for _ in range(200)])
        self.named = nn.ParameterDict(
            {"a-b": nn.Parameter(torch.zeros(1)), "c d": nn.Parameter(torch.zeros(1))}
        )

    def forward(self, h, way="sum"):
        if way == "none":
            return None
        if way == "generator":
            return (h * w for w in self.weights)
        self(h, "none")
        return sum(part.sum(1, keepdim=True) for part in self(h, "generator")) / 50 + self.named["c d"]


body, head = Stubborn(), Chatty()
body(x=torch.randn(2, 5))
parameters = [p for p in (*body.parameters(), *head.parameters()) if p.requires_grad]
optimizer = torch.optim.SGD([{"params": [p], "lr": 0.01} for p in parameters], lr=0.1)
for step in range(1, 16):
    x = torch.randn(24, 5)
    out = body(x=x, note=f"step {step}")
    loss = (head(out.hidden) - x.sum(1, keepdim=True)).square().mean() + 0 * body.empty.sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}")
result(body, head, optimizer)
