import torch
import torch.nn as nn

torch.manual_seed(8)
torch.set_num_threads(1)


class Adding(nn.Module):
    """The adding problem: sum two marked numbers of a sequence."""

    def __init__(self, hidden=48):
        super().__init__()
        self.rnn = nn.GRU(2, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x):
        out, _ = self.rnn(x)
        return self.fc(out[:, -1]).squeeze(1)


def sample(n, length=20):
    values = torch.rand(n, length)
    marks = torch.zeros(n, length)
    first = torch.randint(0, length // 2, (n,))
    second = torch.randint(length // 2, length, (n,))
    marks[torch.arange(n), first] = 1
    marks[torch.arange(n), second] = 1
    return torch.stack([values, marks], 2), (values * marks).sum(1)


model = Adding()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
vx, vy = sample(300)
clipped = 0
for step in range(1, 401):
    x, y = sample(64)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
    clipped += int(norm > 1.0)
    optimizer.step()
    if step % 50 == 0:
        model.eval()
        with torch.no_grad():
            v = nn.functional.mse_loss(model(vx), vy)
        model.train()
        print(f"step {step} loss {loss.item():.4f} val_loss {v.item():.4f} grad_norm {norm:.3f} clipped {clipped / step:.0%}")
