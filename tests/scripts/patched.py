"""Programs that put their own functions into torch: `patched.py WAY [watch]`; with `watch` before us."""

import importlib
import sys

import torch
from fingerprint import result
from torch import nn

calls = {}


def counted(owner, name):
    theirs = getattr(owner, name)

    def mine(*args, **kwargs):
        calls[name] = calls.get(name, 0) + 1
        return theirs(*args, **kwargs)

    setattr(owner, name, mine)


def wrapped():
    counted(torch.Tensor, "backward")
    counted(torch.optim.SGD, "step")
    counted(nn.Module, "__call__")
    counted(torch.utils.data.DataLoader, "__iter__")
    counted(nn.functional, "mse_loss")
    counted(torch.autograd, "backward")


def replaced():
    """Nothing of torch's own is called any more, nor any hook of a module."""

    def backward(self, gradient=None, retain_graph=False, create_graph=False, inputs=None):
        seed = (torch.ones_like(self),)
        engine = torch.autograd.Variable._execution_engine
        engine.run_backward(
            (self,), seed, retain_graph, create_graph, (), allow_unreachable=True, accumulate_grad=True
        )

    torch.Tensor.backward = backward
    nn.Module.__call__ = lambda self, *args, **kwargs: self.forward(*args, **kwargs)


def replaced_step():
    """Taken when the optimizer is there already: torch's hooks are not called."""

    def step(self, closure=None):
        with torch.no_grad():
            for group in self.param_groups:
                for p in group["params"]:
                    p -= group["lr"] * p.grad

    torch.optim.SGD.step = step


def reloaded():
    for name in ("utils.data.dataloader", "nn.modules.loss", "optim.sgd", "nn.modules.linear"):
        importlib.reload(sys.modules[f"torch.{name}"])


def reloaded_core():
    """Where torch keeps the hooks of optimizers."""
    importlib.reload(sys.modules["torch.optim.optimizer"])


def deleted():
    """Functions the training does not need, among them some that others might."""
    del torch.nn.utils.clip_grad_norm_, torch.nn.utils.clip_grad_value_
    del torch.optim.lr_scheduler.LRScheduler._initial_step
    del torch.jit.script, torch.compile, torch.func.grad
    del torch._C._nn.mse_loss
    nn.functional.mse_loss = lambda output, target: (output - target).square().mean()


def sabotaged():
    """What a probe may use says nonsense, or fails."""

    def fails(*args, **kwargs):
        raise RuntimeError("not with me")

    torch._foreach_norm = fails
    torch.linalg.vector_norm = fails
    nn.Module.named_modules = fails
    torch.Tensor.isfinite = fails


def train(late):
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 1))
    parameters = list(model.parameters())
    optimizer = torch.optim.SGD(parameters, lr=0.05)
    late()
    data = torch.utils.data.TensorDataset(torch.randn(64, 6), torch.randn(64, 1))
    loader = torch.utils.data.DataLoader(data, batch_size=8, shuffle=True)
    for _ in range(4):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print("loss", float(loss.detach()))
    print(sorted(calls.items()))
    result(parameters)


def main(way, watch=""):
    change = globals()[way]
    late = way in ("replaced_step", "reloaded_core", "sabotaged")
    if not late:
        change()
    if watch:
        import traindx

        traindx.watch(out="watched")
    train(change if late else lambda: None)


if __name__ == "__main__":
    main(*sys.argv[1:])
