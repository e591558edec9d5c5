"""A program that closes every descriptor it does not know, as daemons do, and then opens its own."""

import os
import time

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
mine = []
for step in range(1, 21):
    x = torch.randn(8, 4)
    loss = nn.functional.mse_loss(model(x), x[:, :1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"step {step} loss {loss.item():.6f}", flush=True)
    time.sleep(0.05)
    if step == 10:
        os.closerange(3, 200)
        mine = [os.open(f"mine{number}.txt", os.O_CREAT | os.O_RDWR) for number in range(30)]
for descriptor in mine:
    os.write(descriptor, b"mine\n")
    os.close(descriptor)
for number in range(30):
    with open(f"mine{number}.txt") as file:
        assert file.read() == "mine\n", number
result(model, optimizer)
