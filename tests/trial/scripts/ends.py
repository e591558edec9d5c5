"""A training that ends as its argument says."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

import numpy as np
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--how", required=True)
HOW = parser.parse_args().how

if HOW == "reads":
    print(input("how many epochs? "))
elif HOW == "silent":
    sys.exit(0)
elif HOW == "hangs":
    time.sleep(1000)
elif HOW == "starts":
    subprocess.Popen(["sleep", "1000"], start_new_session=True)
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"])
elif HOW == "unseeded":
    print("drawn", np.random.rand(), np.random.default_rng().random(), torch.rand(1).item())
elif HOW == "clock":
    torch.manual_seed(time.time_ns() % 2**32)

model = torch.nn.Linear(4, 1)
optimizers = [torch.optim.SGD([model.weight], lr=0.1), torch.optim.Adam([model.bias], lr=0.1)]
for step in range(20):
    loss = (model(torch.randn(8, 4)) - 1).pow(2).mean()
    if HOW == "raises" and step == 3:
        raise ValueError("the labels\nare wrong")
    if HOW == "slow":
        loss.backward(torch.full_like(loss, 1.0))
        time.sleep(1000)
    if HOW == "dies" and step == 3:
        os.kill(os.getpid(), 9)
    if HOW == "waits" and step == 5:
        time.sleep(1000)
    if HOW == "goes on":
        time.sleep(0.1)
    for optimizer in optimizers:
        optimizer.zero_grad()
    loss.backward()
    for optimizer in optimizers:
        optimizer.step()
