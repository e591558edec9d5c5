"""A scripted model, a scripted loss and a traced block."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result
from torch import Tensor

torch.manual_seed(0)
torch.set_num_threads(1)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(6, 16)
        self.fc2 = nn.Linear(16, 3)
        self.criterion = nn.CrossEntropyLoss()

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return self.criterion(self.fc2(F.relu(self.fc1(x))), y)


@torch.jit.script
def smooth_loss(logits: Tensor, target: Tensor) -> Tensor:
    return F.cross_entropy(logits, target, label_smoothing=0.1) + F.mse_loss(logits, torch.zeros_like(logits))


scripted = torch.jit.script(Net())
block = torch.jit.trace(nn.Sequential(nn.Linear(6, 8), nn.Tanh()), torch.randn(2, 6))
head = nn.Linear(8, 3)
params = [*scripted.parameters(), *block.parameters(), *head.parameters()]
optimizer = torch.optim.SGD(params, lr=0.1)
way = torch.randn(6, 3)
for step in range(1, 21):
    x = torch.randn(32, 6)
    y = (x @ way).argmax(1)
    loss = scripted(x, y) + smooth_loss(head(block(x)), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 0:
        print(f"step {step} loss {loss.item():.6f}")
result(scripted, block, head, optimizer)
