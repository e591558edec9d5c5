import argparse
from pathlib import Path

import numpy as np
import torch
import yaml
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

OPTIMIZERS = {
    "sgd": torch.optim.SGD,
    "adam": torch.optim.Adam,
    "rmsprop": torch.optim.RMSprop,
}
ACTIVATIONS = {"relu": nn.ReLU, "gelu": nn.GELU, "tanh": nn.Tanh}


def load_config():
    parser = argparse.ArgumentParser(description="yield model")
    parser.add_argument("--config", default=str(Path(__file__).with_suffix(".yaml")))
    return yaml.safe_load(Path(parser.parse_args().config).read_text())


def build_data(cfg, seed):
    g = np.random.default_rng(seed)
    n = cfg["n_train"] + cfg["n_val"]
    x = g.normal(size=(n, cfg["n_features"]))
    w = g.normal(size=(cfg["n_features"],)) / np.sqrt(cfg["n_features"])
    # growth response: linear part, a saturating water term, heat x light interaction
    y = x @ w + 1.2 * np.tanh(2 * x[:, 0]) + 0.9 * x[:, 1] * x[:, 2] - 0.8 * np.abs(x[:, 3])
    y = y + cfg["noise"] * g.normal(size=n)
    cut = cfg["n_train"]
    y = (y - y[:cut].mean()) / y[:cut].std()
    x = torch.tensor(x, dtype=torch.float32)
    y = torch.tensor(y, dtype=torch.float32)[:, None]
    return TensorDataset(x[:cut], y[:cut]), TensorDataset(x[cut:], y[cut:])


def build_model(cfg, n_in):
    layers = []
    for width in cfg["hidden"]:
        layers += [nn.Linear(n_in, width), ACTIVATIONS[cfg["activation"]]()]
        n_in = width
    layers.append(nn.Linear(n_in, 1))
    return nn.Sequential(*layers)


def build_optimizer(cfg, params):
    cls = OPTIMIZERS[cfg["name"]]
    extra = {k: cfg[k] for k in ("momentum", "weight_decay", "nesterov") if k in cfg}
    return cls(params, lr=cfg["lr"], **extra)


def validate(model, loader, criterion):
    model.eval()
    sq, n = 0.0, 0
    with torch.no_grad():
        for x, y in loader:
            sq += criterion(model(x), y).item() * len(x)
            n += len(x)
    return sq / n


def run():
    cfg = load_config()
    torch.manual_seed(cfg["seed"])
    train_set, val_set = build_data(cfg["data"], cfg["seed"])
    train_loader = DataLoader(train_set, batch_size=cfg["train"]["batch_size"], shuffle=True)
    val_loader = DataLoader(val_set, batch_size=500)
    model = build_model(cfg["model"], cfg["data"]["n_features"])
    optimizer = build_optimizer(cfg["optim"], model.parameters())
    criterion = nn.MSELoss()

    for epoch in range(cfg["train"]["epochs"]):
        model.train()
        running = 0.0
        for x, y in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), cfg["optim"]["clip_norm"])
            optimizer.step()
            running += loss.item()
        val = validate(model, val_loader, criterion)
        print(f"[{epoch + 1:3d}/{cfg['train']['epochs']}] train mse {running / len(train_loader):.4f} | val mse {val:.4f} | val R2 {1 - val:.3f}")


if __name__ == "__main__":
    run()
