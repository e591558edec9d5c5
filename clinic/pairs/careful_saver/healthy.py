import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

SAVE_EVERY = 50


def collect_statistics(model, path):
    """Histograms of all weights, to look at later."""
    stats = {}
    for name, p in model.named_parameters():
        values = p.detach().numpy().ravel()
        stats[name + "/hist"] = np.histogram(values, bins=256)[0]
        stats[name + "/quantiles"] = np.quantile(values, np.linspace(0, 1, 101))
    np.savez_compressed(path, **stats)
    torch.save(model.state_dict(), "last.pt")


torch.manual_seed(25)
g = torch.Generator().manual_seed(25)
x = torch.randn(3000, 20, generator=g)
w = torch.randn(20, 5, generator=g)
y = (x @ w + 0.5 * torch.sin(3 * x[:, :5])).argmax(1)
train = DataLoader(TensorDataset(x[:2400], y[:2400]), batch_size=60, shuffle=True)
x_val, y_val = x[2400:], y[2400:]
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 5))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, weight_decay=1e-3)
criterion = nn.CrossEntropyLoss()
step = 0
for epoch in range(6):
    for xb, yb in train:
        optimizer.zero_grad()
        loss = criterion(model(xb), yb)
        loss.backward()
        optimizer.step()
        step += 1
        if step % SAVE_EVERY == 0:
            collect_statistics(model, "weights.npz")
    with torch.no_grad():
        out = model(x_val)
    print(
        f"epoch {epoch + 1} step {step} loss {loss.item():.4f} val_loss {criterion(out, y_val).item():.4f} val_acc {(out.argmax(1) == y_val).float().mean().item():.3f}"
    )
