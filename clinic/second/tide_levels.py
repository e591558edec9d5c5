import torch, torch.nn as nn
torch.manual_seed(4)
t = torch.rand(2000, 1) * 6
h = torch.sin(t) + 0.4 * torch.sin(2.3 * t + 1) + 0.05 * torch.randn(2000, 1)
t = (t - 3) / 1.73
m = nn.Sequential(nn.Linear(1, 48), nn.Tanh(), nn.Linear(48, 48), nn.Tanh(), nn.Linear(48, 1))
o = torch.optim.SGD(m.parameters(), lr=0.02, momentum=0.998)
for ep in range(30):
    s = 0.
    for b in torch.randperm(1600).split(50):
        l = ((m(t[b]) - h[b]) ** 2).mean()
        o.zero_grad(); l.backward(); o.step()
        s += l.item() / 32
    with torch.no_grad(): v = ((m(t[1600:]) - h[1600:]) ** 2).mean().item()
    print(f"ep {ep} loss {s:.4f} val_loss {v:.4f}")
