import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

config = {
    "hidden_sizes": [8],
    "dropout": 0.1,
    "weight_decay": 1e-3,
    "lr": 1e-3,
    "epochs": 40,
    "batch_size": 16,
}


def patients(n, generator):
    x = torch.randn(n, 20, generator=generator)
    y = 0.9 * x[:, 0] - 0.6 * x[:, 1] + 0.4 * x[:, 2] + 0.6 * torch.randn(n, generator=generator)
    return TensorDataset(x, y.unsqueeze(1))


def build(cfg):
    sizes = [20, *cfg["hidden_sizes"]]
    layers = []
    for i in range(len(sizes) - 1):
        layers += [nn.Linear(sizes[i], sizes[i + 1]), nn.ReLU(), nn.Dropout(cfg["dropout"])]
    return nn.Sequential(*layers, nn.Linear(sizes[-1], 1))


def run_epoch(model, loader, loss_fn, optimizer=None):
    model.train(optimizer is not None)
    total = 0.0
    with torch.set_grad_enabled(optimizer is not None):
        for x, y in loader:
            loss = loss_fn(model(x), y)
            if optimizer:
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
            total += loss.item() * len(x)
    return total / len(loader.dataset)


torch.manual_seed(23)
g = torch.Generator().manual_seed(23)
train_loader = DataLoader(patients(240, g), batch_size=config["batch_size"], shuffle=True)
val_loader = DataLoader(patients(500, g), batch_size=250)
model = build(config)
print("trainable parameters:", sum(p.numel() for p in model.parameters()))
optimizer = torch.optim.AdamW(model.parameters(), lr=config["lr"], weight_decay=config["weight_decay"])
loss_fn = nn.MSELoss()
for epoch in range(1, config["epochs"] + 1):
    train_loss = run_epoch(model, train_loader, loss_fn, optimizer)
    val_loss = run_epoch(model, val_loader, loss_fn)
    print(f"epoch {epoch} train_loss {train_loss:.4f} val_loss {val_loss:.4f}")
