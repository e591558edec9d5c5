import torch
import torch.nn as nn

torch.manual_seed(1)


def running_totals(n, length=30):
    x = torch.randn(n, length, 1)
    return x, 0.3 * x.squeeze(-1).cumsum(1)


class Counter(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.rnn = nn.RNN(1, hidden, nonlinearity="relu", batch_first=True)
        self.out = nn.Linear(hidden, 1)
        nn.init.eye_(self.rnn.weight_hh_l0)
        nn.init.normal_(self.rnn.weight_ih_l0, std=0.1)
        nn.init.zeros_(self.rnn.bias_hh_l0)
        nn.init.zeros_(self.rnn.bias_ih_l0)

    def forward(self, x):
        hidden, _ = self.rnn(x)
        return self.out(hidden).squeeze(-1)


model = Counter()
mse = nn.MSELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.005, momentum=0.9)
x_val, y_val = running_totals(300)
for step in range(1, 501):
    x, y = running_totals(32)
    optimizer.zero_grad()
    loss = mse(model(x), y)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 4.0)
    optimizer.step()
    if step % 25 == 0:
        with torch.no_grad():
            val = mse(model(x_val), y_val)
        print(f"step {step}: loss {loss.item():.4f} val_loss {val.item():.4f}")
