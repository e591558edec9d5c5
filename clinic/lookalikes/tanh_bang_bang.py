"""Imitate a controller that pushes full left or full right."""
import torch
import torch.nn as nn

torch.manual_seed(0)
states = torch.randn(4000, 4)
expert = torch.sign(states[:, :1] + 0.6 * states[:, 1:2] + 0.2 * states[:, 2:3] * states[:, 3:4])


class Actor(nn.Module):
    def __init__(self, max_action=1.0):
        super().__init__()
        self.l1 = nn.Linear(4, 64)
        self.l2 = nn.Linear(64, 64)
        self.l3 = nn.Linear(64, 1)
        self.max_action = max_action

    def forward(self, s):
        a = torch.relu(self.l1(s))
        a = torch.relu(self.l2(a))
        return self.max_action * torch.tanh(self.l3(a))


actor = Actor()
optimizer = torch.optim.Adam(actor.parameters(), lr=1e-3)
for epoch in range(15):
    for idx in torch.randperm(3200).split(64):
        loss = nn.functional.mse_loss(actor(states[idx]), expert[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        out = actor(states[3200:])
        val = nn.functional.mse_loss(out, expert[3200:])
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val.item():.4f} agree {(out.sign() == expert[3200:]).float().mean():.3f}")
