"""Tools that read the code of functions: fx, export, pickle of functions, inspect, profiler, modes."""

import inspect
import pickle

import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result
from torch.utils.flop_counter import FlopCounterMode

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(6, 16)
        self.out = nn.Linear(16, 3)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x, y):
        return self.criterion(self.out(torch.relu(self.fc(x))), y) + F.mse_loss(x, x * 0.5)


for function in (
    F.cross_entropy,
    F.mse_loss,
    nn.utils.clip_grad_norm_,
    torch.autograd.backward,
):
    assert pickle.loads(pickle.dumps(function)) is function
    print(
        function.__module__,
        function.__qualname__,
        str(inspect.signature(function))[:40],
        type(function).__name__,
    )
for method in (torch.Tensor.backward, torch.optim.SGD.step, nn.Module.__call__, torch.optim.SGD.zero_grad):
    print(method.__qualname__, inspect.signature(method))

net = Net()
traced = torch.fx.symbolic_trace(net)
print("fx", [str(node.target).split(" at ")[0] for node in traced.graph.nodes])
x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
exported = torch.export.export(net, (x, y))
print("export", [str(node.target) for node in exported.graph.nodes if node.op == "call_function"])
optimizer = torch.optim.SGD(traced.parameters(), lr=0.1)
for step in range(1, 11):
    x, y = torch.randn(8, 6), torch.randint(0, 3, (8,))
    with FlopCounterMode(display=False) as counter:
        loss = traced(x, y)
        loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    print(f"step {step} loss {loss.item():.6f} flops {counter.get_total_flops()}")
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
    net(x, y).backward()
print("linear calls", sum(e.count for e in profile.key_averages() if e.key == "aten::linear"))
result(traced, optimizer)
