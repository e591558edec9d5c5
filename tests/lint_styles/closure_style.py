import torch
from torch import nn
def get_model(cfg): return nn.Sequential(*[l for i in range(cfg["depth"]) for l in (nn.Linear(cfg["w"], cfg["w"]), nn.ReLU())], nn.Linear(cfg["w"], 1))
CFG = {"depth": 3, "w": 16, "lr": 1e-2, "opt": "sgd"}
OPTS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam}
class Callback:
    def on_step(self, loss): ...
class Log(Callback):
    def __init__(self): self.h = []
    def on_step(self, loss): self.h.append(loss.item())
def train(cfg, batches, cbs):
    model = get_model(cfg); opt = OPTS[cfg["opt"]](model.parameters(), lr=cfg["lr"]); lossf = {"mse": nn.MSELoss()}["mse"]
    it = iter(batches); step = 0
    while True:
        try: x, y = next(it)
        except StopIteration: break
        def run():
            opt.zero_grad(); l = lossf(model(x).squeeze(-1), y); l.backward(); return l
        l = run(); opt.step(); step += 1
        for c in cbs: c.on_step(l)
    return model
train(CFG, [(torch.randn(8, 16), torch.randn(8)) for _ in range(10)], [Log()])
