import argparse
import math
import numpy as np
import torch
import torch.nn as nn


def get_beats(n, length, n_types, seed):
    """Noisy one-channel beats; the type decides the widths and distances of three bumps."""
    shape_rng = np.random.RandomState(100)
    gaps = shape_rng.uniform(0.10, 0.25, (n_types, 2))
    amps = shape_rng.uniform(-1.0, 1.5, (n_types, 3))
    wid = shape_rng.uniform(0.015, 0.05, (n_types, 3))
    rng = np.random.RandomState(seed)
    y = rng.randint(0, n_types, n)
    t = np.linspace(0, 1, length)[None]
    start = rng.uniform(0.15, 0.4, (n, 1))
    pos = [start, start + gaps[y, :1], start + gaps[y].sum(1, keepdims=True)]
    x = sum(amps[y, k:k + 1] * rng.normal(1, 0.1, (n, 1)) * np.exp(-((t - pos[k]) / wid[y, k:k + 1]) ** 2)
            for k in range(3))
    x = x + rng.normal(0, 0.25, x.shape)
    return torch.tensor(x[:, None], dtype=torch.float32), torch.tensor(y)


class Block(nn.Module):
    def __init__(self, ch):
        super().__init__()
        self.conv1 = nn.Conv1d(ch, ch, 3, padding=1)
        self.conv2 = nn.Conv1d(ch, ch, 3, padding=1)
        self.act = nn.ReLU()

    def forward(self, x):
        return self.act(x + self.conv2(self.act(self.conv1(x))))


class BeatNet(nn.Module):
    def __init__(self, n_types, ch=16, depth=14):
        super().__init__()
        self.stem = nn.Conv1d(1, ch, 5, stride=2, padding=2)
        self.blocks = nn.ModuleList([Block(ch) for _ in range(depth)])
        self.fc = nn.Linear(2 * ch, n_types)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        for i, block in enumerate(self.blocks):
            x = block(x)
            if i == len(self.blocks) // 2:
                x = nn.functional.avg_pool1d(x, 2)
        return self.fc(torch.cat([x.mean(-1), x.amax(-1)], 1))


class Trainer:
    def __init__(self, args):
        self.args = args
        torch.manual_seed(args.seed)
        self.x, self.y = get_beats(1600, 64, args.types, args.seed)
        self.xv, self.yv = get_beats(500, 64, args.types, args.seed + 1)
        self.net = BeatNet(args.types)
        self.opt = torch.optim.Adam(self.net.parameters(), lr=args.lr)
        self.n_steps = args.epochs * math.ceil(len(self.x) / args.bs)
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, T_max=self.n_steps, eta_min=args.lr * 0.05)
        self.loss = nn.CrossEntropyLoss()

    def step(self, idx):
        self.opt.zero_grad()
        loss = self.loss(self.net(self.x[idx]), self.y[idx])
        loss.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.args.clip)
        self.opt.step()
        self.sched.step()
        return loss.item()

    @torch.no_grad()
    def check(self):
        self.net.eval()
        out = self.net(self.xv)
        self.net.train()
        return self.loss(out, self.yv).item(), (out.argmax(1) == self.yv).float().mean().item()

    def go(self):
        for ep in range(self.args.epochs):
            ls = [self.step(i) for i in torch.randperm(len(self.x)).split(self.args.bs)]
            vl, acc = self.check()
            print(f"ep {ep:2d} train {np.mean(ls):.4f} val {vl:.4f} acc {acc:.3f}")


if __name__ == "__main__":
    a = argparse.ArgumentParser()
    a.add_argument("--types", type=int, default=9)
    a.add_argument("--bs", type=int, default=50)
    a.add_argument("--lr", type=float, default=2e-3)
    a.add_argument("--epochs", type=int, default=9)
    a.add_argument("--clip", type=float, default=1.0)
    a.add_argument("--seed", type=int, default=1)
    Trainer(a.parse_args()).go()
