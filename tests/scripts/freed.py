"""Counts on memory being given back: models, graphs and activations die when the script drops them."""

import gc
import weakref

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
gc.disable()
alive = weakref.WeakSet()


class Remember(nn.Module):
    def forward(self, x):
        alive.add(x)
        return x * 1.0


def train(number):
    model = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), Remember(), nn.Linear(16, 1))
    criterion = nn.MSELoss()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    for step in range(10):
        x = torch.randn(16, 6)
        loss = criterion(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        graph = weakref.ref(loss)
        batch = weakref.ref(x)
        value = loss.item()
        del loss, x
        print(
            f"model {number} step {step + 1} loss {value:.6f} graph {graph()} batch {batch()} kept {len(alive)}"
        )
    return weakref.ref(model), weakref.ref(optimizer), weakref.ref(model[0].weight), model.state_dict()


for number in range(3):
    *refs, state = train(number)
    gc.collect()
    print("after collecting:", [ref() is None for ref in refs[:2]], len(alive))
result(state)
