"""Water gained by a reservoir over the last T hours, from rain and temperature."""
import argparse
import math

import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


def simulate(n_hours, rng):
    rain = np.zeros(n_hours)
    i = 0
    while i < n_hours:
        i += int(rng.exponential(14)) + 1
        dur = int(rng.integers(2, 8))
        rain[i:i + dur] += rng.gamma(2.0, 0.5)
    temp = np.sin(np.arange(n_hours) * 2 * math.pi / 24) + 0.3 * rng.normal(size=n_hours)
    inflow = rain * (1.0 - 0.4 * np.tanh(temp))
    return np.stack([rain, temp], 1).astype(np.float32), inflow.astype(np.float32)


def windows(obs, inflow, length, rng):
    """x: the window's rain and temperature; y: how much water the reservoir gained over it."""
    idx = np.arange(0, len(obs) - length, 2)
    x = np.stack([obs[i:i + length] for i in idx])
    gain = np.array([inflow[i:i + length].sum() for i in idx])
    y = (gain + 0.5 * rng.normal(size=len(gain))).astype(np.float32)
    return torch.from_numpy(x), torch.from_numpy(y)


class ReservoirRNN(nn.Module):
    def __init__(self, n_in, hidden):
        super().__init__()
        self.rnn = nn.RNN(n_in, hidden, nonlinearity="relu", batch_first=True)
        self.out = nn.Linear(hidden, 1)
        with torch.no_grad():
            nn.init.eye_(self.rnn.weight_hh_l0)
            nn.init.normal_(self.rnn.weight_ih_l0, std=0.05)
            self.rnn.bias_hh_l0.zero_()
            self.rnn.bias_ih_l0.zero_()

    def forward(self, x):
        h, _ = self.rnn(x)
        return self.out(h[:, -1]).squeeze(-1)


@torch.no_grad()
def evaluate(model, x, y):
    model.eval()
    loss = F.mse_loss(model(x), y).item()
    model.train()
    return loss


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--hidden", type=int, default=32)
    p.add_argument("--length", type=int, default=60)
    p.add_argument("--batch", type=int, default=32)
    p.add_argument("--lr", type=float, default=0.003)
    p.add_argument("--momentum", type=float, default=0.9)
    p.add_argument("--max-steps", type=int, default=1000)
    p.add_argument("--seed", type=int, default=3)
    args = p.parse_args()

    torch.manual_seed(args.seed)
    rng = np.random.default_rng(args.seed)
    obs, inflow = simulate(9000, rng)
    cut = 7000
    obs = (obs - obs[:cut].mean(0)) / obs[:cut].std(0)
    xtr, ytr = windows(obs[:cut], inflow[:cut], args.length, rng)
    xva, yva = windows(obs[cut:], inflow[cut:], args.length, rng)
    mu, sd = ytr.mean(), ytr.std()
    ytr, yva = (ytr - mu) / sd, (yva - mu) / sd

    model = ReservoirRNN(2, args.hidden)
    opt = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=args.momentum)
    step, running = 0, []
    while step < args.max_steps:
        pick = torch.randint(0, len(xtr), (args.batch,))
        loss = F.mse_loss(model(xtr[pick]), ytr[pick])
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        opt.step()
        running.append(loss.item())
        step += 1
        if step % 50 == 0:
            val = evaluate(model, xva, yva)
            print(f"step {step:5d}  train_loss {np.mean(running):.4f}  val_loss {val:.4f}  "
                  f"val_r2 {1 - val / yva.var().item():.3f}")
            running = []


if __name__ == "__main__":
    main()
