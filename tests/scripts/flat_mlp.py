# first steps: classify handwritten digits (well, something shaped like them)
import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)

centers = torch.rand(10, 784)
y_train = torch.randint(0, 10, (2000,))
x_train = centers[y_train] + 0.5 * torch.randn(2000, 784)

model = nn.Sequential(
    nn.Linear(784, 64),
    nn.ReLU(),
    nn.Linear(64, 32),
    nn.ReLU(),
    nn.Linear(32, 10),
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

step = 0
for epoch in range(3):
    for i in range(0, 2000, 50):
        x = x_train[i : i + 50]
        y = y_train[i : i + 50]
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        norm = torch.sqrt(sum((p.grad**2).sum() for p in model.parameters()))
        optimizer.step()
        step += 1
        if step % 10 == 0:
            print(f"step {step} loss {loss.item():.6f} grad norm {norm.item():.6f}")

result(model, optimizer)
