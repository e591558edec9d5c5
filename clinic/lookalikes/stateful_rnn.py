"""Truncated back-propagation through time: the series is read in order and the state is carried on."""
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(0)
np.random.seed(0)
t = np.arange(12000)
series = np.sin(t / 7) + 0.5 * np.sin(t / 31 + 1) + 0.1 * np.random.randn(len(t))
series = torch.tensor(series, dtype=torch.float32)
streams = series[:9600].view(8, 1200)
val = series[9600:].view(1, -1)


class Forecaster(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.LSTM(1, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, 1)

    def forward(self, x, state=None):
        out, state = self.rnn(x.unsqueeze(2), state)
        return self.fc(out).squeeze(2), state


model = Forecaster()
opt = torch.optim.Adam(model.parameters(), lr=2e-3)
mse = nn.MSELoss()
BPTT = 30
for epoch in range(10):
    state = None
    model.train()
    total = 0.0
    for i in range(0, 1200 - BPTT, BPTT):
        x, y = streams[:, i:i + BPTT], streams[:, i + 1:i + BPTT + 1]
        if state is not None:
            state = tuple(s.detach() for s in state)
        pred, state = model(x, state)
        loss = mse(pred, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        v = mse(model(val[:, :-1])[0], val[:, 1:]).item()
    print(f"epoch {epoch} train_loss {total / 39:.4f} val_loss {v:.4f}")
