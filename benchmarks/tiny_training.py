"""A training with tiny steps, `tiny_training.py SIZE STEPS`; its last line tells the CPU seconds it took."""

from __future__ import annotations

import json
import sys
import time

import torch
from torch import nn
from torch.nn import functional

# Width, batch and layers for steps of about half a millisecond, one, and two.
SIZES = {"0.5": (64, 64, 3), "1": (128, 64, 4), "2": (256, 64, 4)}
# Of these first steps traindx keeps everything, whatever that costs.
FIRST, PARTS = 1_000, 4


def main() -> None:
    size, steps = sys.argv[1], int(sys.argv[2])
    width, batch, layers = SIZES[size]
    torch.set_num_threads(1)
    torch.manual_seed(0)
    inner = [part for _ in range(layers - 1) for part in (nn.Linear(width, width), nn.ReLU())]
    model = nn.Sequential(*inner, nn.Linear(width, 10))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    batches = [(torch.randn(batch, width), torch.randint(10, (batch,))) for _ in range(64)]
    marks = [time.process_time()]
    for step in range(1, steps + 1):
        inputs, targets = batches[step % len(batches)]
        optimizer.zero_grad()
        loss = functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
        if step >= FIRST and (step - FIRST) % ((steps - FIRST) // PARTS) == 0:
            marks.append(time.process_time())
    print(json.dumps({"marks": marks, "loss": loss.item()}), flush=True)


if __name__ == "__main__":
    main()
