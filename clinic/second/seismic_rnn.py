import numpy as np
import torch
import torch.nn as nn

rng = np.random.default_rng(7)
torch.manual_seed(7)


def traces(n, length=40):
    x = rng.normal(size=(n, length, 1))
    quake = rng.random(n) < 0.004
    x[quake] *= 12
    s = np.zeros(n)
    for t in range(length):
        s = 0.9 * s + 0.3 * x[:, t, 0]
    return torch.tensor(x, dtype=torch.float32), torch.tensor(s, dtype=torch.float32)


class RNN(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, nonlinearity="relu", batch_first=True)
        nn.init.eye_(self.rnn.weight_hh_l0)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[0][:, -1]).squeeze(1)


model = RNN()
optimizer = torch.optim.SGD(model.parameters(), lr=1.5e-3, momentum=0.5)
xv, yv = traces(300)
for step in range(1, 401):
    x, y = traces(16)
    loss = nn.functional.mse_loss(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        with torch.no_grad():
            v = nn.functional.mse_loss(model(xv), yv)
        print(f"step {step} loss {loss.item():.4f} val_loss {v.item():.4f}")
