"""Leaves in one of many ways: python leave.py exit|message|interrupt|terminate|os_exit|generator."""

import os
import signal
import sys
import time

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
try:
    for step in range(1, 21):
        x = torch.randn(8, 4)
        loss = nn.functional.mse_loss(model(x), x[:, :1])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(f"step {step} loss {loss.item():.6f}", flush=True)
        if step == 11:
            time.sleep(0.4)
        if step == 12:
            result(model, optimizer)
            match sys.argv[1]:
                case "exit":
                    sys.exit(3)
                case "message":
                    sys.exit("I have seen enough")
                case "interrupt":
                    os.kill(os.getpid(), signal.SIGINT)
                case "terminate":
                    os.kill(os.getpid(), signal.SIGTERM)
                case "os_exit":
                    os._exit(5)
                case "kill":
                    os.kill(os.getpid(), signal.SIGKILL)
finally:
    print("finally", flush=True)
