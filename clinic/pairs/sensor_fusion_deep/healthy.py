import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset


def make_mlp(sizes, activation):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), activation()]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


def sensors(n, rng, mixing):
    latent = rng.normal(size=(n, 3))
    x = np.tanh(latent @ mixing) + 0.05 * rng.normal(size=(n, 10))
    y = (latent[:, 0] * latent[:, 1] > 0).astype(int) + 2 * (latent[:, 2] > 0)
    return TensorDataset(torch.tensor(x, dtype=torch.float32), torch.tensor(y))


def main():
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    mixing = rng.normal(size=(3, 10)) * 0.5
    train_dl = DataLoader(sensors(3000, rng, mixing), batch_size=64, shuffle=True)
    val_dl = DataLoader(sensors(600, rng, mixing), batch_size=600)
    net = make_mlp([10, 48, 48, 48, 48, 48, 48, 4], nn.ReLU)
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
    loss_fn = nn.CrossEntropyLoss()
    for epoch in range(10):
        net.train()
        for x, y in train_dl:
            optimizer.zero_grad()
            loss = loss_fn(net(x), y)
            loss.backward()
            optimizer.step()
        net.eval()
        with torch.no_grad():
            x, y = next(iter(val_dl))
            out = net(x)
            print(
                f"epoch {epoch + 1} | loss {loss.item():.4f} | val_loss {loss_fn(out, y).item():.4f} "
                f"| val_acc {(out.argmax(1) == y).float().mean().item():.3f}"
            )


if __name__ == "__main__":
    main()
