import numpy as np
import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, SWALR, update_bn

torch.manual_seed(2024)
rng = np.random.default_rng(2024)

# gesture recognition from accelerometer windows, constant high SWA learning rate at the end
def gestures(n):
    y = rng.integers(0, 6, n)
    t = np.linspace(0, 1, 50)
    f = np.array([2, 2, 3, 3, 4, 4])[y] + rng.normal(0, .3, n)
    ph = rng.uniform(0, 6.28, n)
    env = np.where((y % 2 == 0)[:, None], np.exp(-3 * t), np.exp(-3 * (1 - t)))
    a = env * np.sin(2 * np.pi * f[:, None] * t + ph[:, None])
    b = env * np.cos(2 * np.pi * f[:, None] * t + ph[:, None] * .5)
    x = np.stack([a, b, a * b], 1) + rng.normal(0, .35, (n, 3, 50))
    return torch.tensor(x, dtype=torch.float32), torch.tensor(y)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.c = nn.Sequential(nn.Conv1d(3, 32, 7, padding=3), nn.BatchNorm1d(32), nn.ReLU(), nn.MaxPool1d(2),
                               nn.Conv1d(32, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveAvgPool1d(6))
        self.f = nn.Linear(192, 6)
    def forward(self, x):
        return self.f(self.c(x).flatten(1))

def acc(m):
    m.eval()
    with torch.no_grad():
        return (m(xv).argmax(1) == yv).float().mean().item()

x, y = gestures(5000)
xv, yv = gestures(1500)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16, shuffle=True)
model = Net()
swa = AveragedModel(model)
opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
sched = torch.optim.lr_scheduler.CosineAnnealingLR(opt, 10, eta_min=0.02)
swa_sched = SWALR(opt, swa_lr=0.08, anneal_epochs=2)
for ep in range(18):
    model.train()
    ls = []
    for xb, yb in loader:
        loss = nn.functional.cross_entropy(model(xb), yb)
        opt.zero_grad(); loss.backward(); opt.step()
        ls.append(loss.item())
    if ep >= 10:
        swa.update_parameters(model)
        swa_sched.step()
    else:
        sched.step()
    print("ep", ep, "loss", round(float(np.mean(ls)), 4), "raw acc", round(acc(model), 4))
update_bn(loader, swa)
print("averaged weights acc", round(acc(swa), 4))
