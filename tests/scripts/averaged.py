"""Averages of the weights (EMA and SWA), copies and pickles of everything in mid-training."""

import copy
import io
import pickle

import torch
import torch.nn as nn
from fingerprint import result, sha
from torch.optim.swa_utils import SWALR, AveragedModel, get_ema_multi_avg_fn, update_bn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16)
        self.b = nn.Linear(16, 1)

    def forward(self, x):
        return self.b(torch.relu(self.norm(self.a(x))))


torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(128, 6)
y = x.sum(1, keepdim=True)
loader = [(x[i : i + 32], y[i : i + 32]) for i in range(0, 128, 32)]
model = Net()
ema = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.9))
swa = AveragedModel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=5)
swa_scheduler = SWALR(optimizer, swa_lr=0.02, anneal_epochs=2)
for epoch in range(8):
    for xb, yb in loader:
        loss = nn.functional.mse_loss(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ema.update_parameters(model)
    if epoch >= 4:
        swa.update_parameters(model)
        swa_scheduler.step()
    else:
        scheduler.step()
    twin, twin_optimizer = copy.deepcopy((model, optimizer))
    again = pickle.loads(pickle.dumps([model, optimizer, scheduler]))
    assert sha(twin, twin_optimizer) == sha(*again[:2]) == sha(model, optimizer)
    print(f"epoch {epoch} loss {loss.item():.6f} lr {optimizer.param_groups[0]['lr']:.6f}")
update_bn([xb for xb, _ in loader], swa)
whole = {
    "model": model,
    "ema": ema.module,
    "optimizer": optimizer,
    "scheduler": scheduler,
    "loss": loss.detach(),
}
torch.save(whole, "everything.pt")
buffer = io.BytesIO()
torch.save(model.state_dict(), buffer)
print("state", len(buffer.getvalue()), "pickle", len(pickle.dumps(model)), len(pickle.dumps(optimizer)))
print("attributes", sorted(k for k in vars(model) if not k.startswith("__")))
print("of the optimizer", sorted(vars(optimizer)), "step" in vars(optimizer))
result(model, ema, swa, optimizer)
