"""Trains; from step K on the loss is not finite, in the way asked for: turns_nan.py WAY K STEPS."""

import atexit
import sys
import time

import torch
from torch import nn

way, first, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
torch.manual_seed(0)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
scaler = torch.amp.GradScaler("cpu") if way == "scaler" else None
bad_since = None
done = 0


def report() -> None:
    late = time.perf_counter() - bad_since if bad_since is not None else 0.0
    print(f"steps {done} late {late:.3f}")


atexit.register(report)
for step in range(1, steps + 1):
    x = torch.randn(8, 4)
    loss = ((model(x) - x.sum(1, keepdim=True)) ** 2).mean()
    bad = step >= first if way in ("for_good", "constant") else first <= step < first + 2
    if bad:
        bad_since = bad_since or time.perf_counter()
        loss = loss + float("inf") if way in ("constant", "once") else loss * float("nan")
    if way == "guarded" and not torch.isfinite(loss):
        continue
    optimizer.zero_grad()
    if scaler is not None:
        scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        done += 1
        continue
    loss.backward()
    if way == "norm_guarded" and not torch.isfinite(model.weight.grad).all():
        continue
    optimizer.step()
    done += 1
