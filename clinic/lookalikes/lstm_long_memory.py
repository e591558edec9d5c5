import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(4)
LEN, K = 30, 6


def recall(n):
    """The first symbol counts, the rest is noise; repeat it at the end."""
    first = torch.randint(0, K, (n,))
    seq = torch.randint(K, 2 * K, (n, LEN))
    seq[:, 0] = first
    return F.one_hot(seq, 2 * K).float(), first


class Memory(nn.Module):
    def __init__(self, hidden=40):
        super().__init__()
        self.lstm = nn.LSTM(2 * K, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, K)
        # remember by default: forget gates wide open, input gates mostly shut
        with torch.no_grad():
            self.lstm.bias_ih_l0[hidden:2 * hidden].fill_(4.0)
            self.lstm.bias_ih_l0[:hidden].fill_(-1.0)

    def forward(self, x):
        return self.fc(self.lstm(x)[0][:, -1])


model = Memory()
opt = torch.optim.Adam(model.parameters(), lr=5e-3)
vx, vy = recall(300)
for step in range(1, 301):
    x, y = recall(64)
    loss = F.cross_entropy(model(x), y)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 20 == 0:
        with torch.no_grad():
            out = model(vx)
        print(f"step {step} loss {loss.item():.4f} val_loss {F.cross_entropy(out, vy):.4f} val_acc {(out.argmax(1) == vy).float().mean():.3f}")
