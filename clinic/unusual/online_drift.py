# prequential (test-then-train) learning on a slowly drifting stream
import numpy as np, torch
from collections import deque

class Stream:
    """y = sin(w(t).x) + b(t) + noise; w rotates slowly"""
    def __init__(self, seed, sigma=.25, period=16000.):
        self.r = np.random.RandomState(seed); self.sigma = sigma; self.period = period; self.t = 0
    def __iter__(self):
        return self
    def __next__(self):
        a = 2 * np.pi * self.t / self.period
        x = self.r.uniform(-1.5, 1.5, (32, 4))
        w = np.array([np.cos(a), np.sin(a), .5, -.5])
        clean = np.sin(x @ w) + .5 * np.sin(2 * a)
        self.t += 1
        return (torch.tensor(x, dtype=torch.float32), torch.tensor(clean + self.sigma * self.r.randn(32), dtype=torch.float32), torch.tensor(clean, dtype=torch.float32))

def build():
    return torch.nn.Sequential(torch.nn.Linear(4, 32), torch.nn.Tanh(), torch.nn.Linear(32, 32), torch.nn.Tanh(), torch.nn.Linear(32, 1))

torch.manual_seed(6)
net, frozen = build(), None
opt = torch.optim.SGD(net.parameters(), lr=.03, momentum=.9)
win, clean_win, froz = deque(maxlen=250), deque(maxlen=250), deque(maxlen=250)
for n, (x, y, c) in enumerate(Stream(6), 1):
    pred = net(x).squeeze(1)
    loss = ((pred - y) ** 2).mean()          # error before the update = honest test error
    win.append(loss.item()); clean_win.append(((pred - c) ** 2).mean().item())
    opt.zero_grad(); loss.backward(); opt.step()
    if n == 1000:
        frozen = build(); frozen.load_state_dict(net.state_dict())
    if frozen is not None:
        with torch.no_grad(): froz.append(((frozen(x).squeeze(1) - y) ** 2).mean().item())
    if n % 250 == 0:
        extra = "" if frozen is None else "  (model frozen at 1000: %.4f)" % np.mean(froz)
        print("t=%5d  prequential mse %.4f  excess over truth %.4f%s" % (n, np.mean(win), np.mean(clean_win), extra))
    if n == 3000: break
print("noise floor %.4f" % .25 ** 2)
