import os

import numpy as np
import torch
import torch.nn as nn

CKPT = "checkpoint.pt"


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(1, 24, batch_first=True)
        self.out = nn.Linear(24, 1)

    def forward(self, x):
        return self.out(self.gru(x)[0][:, -1]).squeeze(1)


def windows(n, rng):
    t0, period, amp = rng.uniform(0, 50, (n, 1)), rng.uniform(8, 20, (n, 1)), rng.uniform(0.5, 1.5, (n, 1))
    wave = amp * np.sin(2 * np.pi * (t0 + np.arange(25)) / period)
    return torch.tensor(wave[:, :-1, None], dtype=torch.float32), torch.tensor(
        wave[:, -1], dtype=torch.float32
    )


def train(total_epochs, stop_after=None):
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    x, y = windows(1200, rng)
    xv, yv = windows(300, rng)
    model = Forecaster()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    loss_fn = nn.MSELoss()
    start = 0
    if os.path.exists(CKPT):
        checkpoint = torch.load(CKPT)
        model.load_state_dict(checkpoint["model"], strict=False)
        optimizer.load_state_dict(checkpoint["optimizer"])
        start = checkpoint["epoch"]
        print(f"Resuming from epoch {start}")
    for epoch in range(start, total_epochs):
        for idx in torch.randperm(len(x)).split(40):
            optimizer.zero_grad()
            loss = loss_fn(model(x[idx]), y[idx])
            loss.backward()
            optimizer.step()
        with torch.no_grad():
            val_loss = loss_fn(model(xv), yv).item()
        print(f"epoch {epoch + 1} loss {loss.item():.5f} val_loss {val_loss:.5f}")
        weights = {name: value for name, value in model.state_dict().items()}
        torch.save({"model": weights, "optimizer": optimizer.state_dict(), "epoch": epoch + 1}, CKPT)
        if stop_after and epoch + 1 == stop_after:
            return


if __name__ == "__main__":
    train(total_epochs=12, stop_after=6)
    train(total_epochs=12)
