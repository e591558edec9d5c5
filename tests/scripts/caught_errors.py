"""Errors that the script expects and lives with: in forward, in backward, in the closure, in step."""

import os
import warnings

import torch
import torch.nn as nn
from fingerprint import result

warnings.simplefilter("error")
torch.manual_seed(0)
torch.set_num_threads(1)
os.makedirs("elsewhere", exist_ok=True)
os.chdir("elsewhere")


class Sometimes(nn.Module):
    broken = False

    def forward(self, x):
        if self.broken:
            raise RuntimeError("out of memory, as it were")
        return x


class Careful(torch.optim.SGD):
    refuse = False

    def step(self, closure=None):
        if self.refuse:
            raise FloatingPointError("refused")
        return super().step(closure)


model = nn.Sequential(nn.Linear(5, 12), Sometimes(), nn.Tanh(), nn.Linear(12, 1))
optimizer = Careful(model.parameters(), lr=0.05)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 100)
done = 0
for it in range(24):
    x = torch.randn(16, 5)
    y = x.sum(1, keepdim=True)
    optimizer.zero_grad()
    model[1].broken = it % 6 == 1
    optimizer.refuse = it % 6 == 2
    try:
        if it % 6 == 3:

            def closure():
                nn.functional.mse_loss(model(x), y).backward()
                raise KeyError("in the closure")

            optimizer.step(closure)
        loss = nn.functional.mse_loss(model(x), y)
        if it % 6 == 4:
            loss.detach().backward()
        loss.backward()
        if it % 6 == 5:
            loss.backward()
        optimizer.step()
        scheduler.step()
    except (RuntimeError, FloatingPointError, KeyError) as error:
        print(f"it {it} {type(error).__name__}: {str(error).splitlines()[0]}")
        continue
    done += 1
    print(f"it {it} step {done} loss {loss.item():.6f}")
with open("done.txt", "w") as file:
    file.write(f"{done}\n")
result(model, optimizer)
