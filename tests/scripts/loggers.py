"""Everything that people log to at once: logging, stderr, TensorBoard, CSV, JSON lines."""

import csv
import json
import logging
import os
import sys

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.tensorboard import SummaryWriter

logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
log = logging.getLogger("train")
torch.manual_seed(0)
torch.set_num_threads(1)
os.makedirs("logs", exist_ok=True)
writer = SummaryWriter("logs/tb")

model = nn.Sequential(nn.Linear(10, 20), nn.ReLU(), nn.Linear(20, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
way = torch.randn(10, 2)
log.info("model has %d parameters", sum(p.numel() for p in model.parameters()))

with open("logs/metrics.csv", "w", newline="") as table, open("logs/metrics.jsonl", "w") as lines:
    rows = csv.writer(table)
    rows.writerow(["step", "loss", "lr"])
    for step in range(1, 31):
        x = torch.randn(32, 10)
        loss = nn.functional.cross_entropy(model(x), (x @ way).argmax(1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = loss.item()
        writer.add_scalar("train/loss", value, step)
        rows.writerow([step, value, 5e-3])
        lines.write(json.dumps({"step": step, "loss": value}) + "\n")
        if step % 5 == 0:
            log.info("step %d loss %.6f", step, value)
            print(f"stderr: {step} {value:.6f}", file=sys.stderr)
            print(f"stdout: step {step} loss {value:.6f}")
writer.close()
log.warning("done")
result(model, optimizer)
