import torch
import torch.nn as nn

torch.manual_seed(0)


def task(n, length):
    bits = torch.randint(0, 2, (n, length))
    return bits.float().unsqueeze(2) * 2 - 1, bits.sum(1).float() / 4


class Counter(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 32, batch_first=True)
        self.out = nn.Linear(32, 1)

    def forward(self, x):
        return self.out(self.gru(x)[1][0]).squeeze(1)


model = Counter()
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
mse = nn.MSELoss()
step = 0
for length in (4, 8, 16, 24):
    print(f"--- sequences of {length}")
    for _ in range(150):
        x, y = task(64, length)
        loss = mse(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.5f}")
