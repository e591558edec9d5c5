"""What a program may know about itself, and classes of its own that go through pickle."""

import inspect
import os
import pickle
import sys
import warnings

import torch
import torch.nn as nn
from fingerprint import result


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 1)

    def forward(self, x):
        return self.fc(x)


here = os.path.dirname(os.path.abspath(__file__))
print("name", __name__, "doc", __doc__[:14], "package", __package__, "spec", __spec__)
print("file", os.path.relpath(__file__, here), "argv", sys.argv, "cwd", os.getcwd() == here)
print(
    "path", os.path.relpath(sys.path[0] or ".", here), "main", sys.modules["__main__"].__dict__ is globals()
)
print("loader", type(__loader__).__name__, "cached", __cached__ if "__cached__" in globals() else "none")
print("globals", sorted(k for k in globals() if k.startswith("__")))
print("source", inspect.getsource(Net).count("\n"), inspect.getmodule(Net) is sys.modules["__main__"])
print("threads", torch.get_num_threads() > 0, "frames", len(inspect.stack()) > 0, "flags", sys.flags.optimize)
print("executable", os.path.basename(sys.executable).startswith("python"), sys.stdin.read())
print("streams", sys.stdout is sys.__stdout__, sys.stdout.isatty(), sys.stdout.encoding, sys.stdout.fileno())
print("recursion", sys.getrecursionlimit(), "tracer", sys.gettrace(), sys.getprofile())
warnings.warn("a warning of mine", stacklevel=1)

torch.manual_seed(0)
torch.set_num_threads(1)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(10):
    loss = model(torch.randn(8, 3)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
torch.save(model, "net.pt")
again = torch.load("net.pt", weights_only=False)
print("pickled as", type(again).__module__, type(again) is Net, pickle.loads(pickle.dumps(Net)) is Net)
sys.stdout.buffer.write(b"bytes straight to the buffer\n")
sys.stdout.flush()
os.write(1, b"bytes straight to the descriptor\n")
os.system("echo from a child process")
result(model, optimizer, again)
