import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
w = torch.randn(32, 1) / 6
history = []
total_loss = 0
for step in range(1, 301):
    x = torch.randn(256, 32)
    y = torch.sin(x @ w) + 0.1 * torch.randn(256, 1)
    loss = ((model(x) - y) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total_loss += ((model(x) - y) ** 2).mean()
    history.append(total_loss / step)
    if step % 25 == 0:
        print(f"step {step} loss {loss.item():.4f} average {history[-1].item():.4f}")
