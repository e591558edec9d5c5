"""Learn the forward kinematics of a two-joint arm."""

import torch
from torch import nn
from torch.nn.utils import clip_grad_norm_


class Config:
    lr = 0.05
    batch = 64
    steps = 900
    max_norm = 1e-3
    seed = 0


def arm(n):
    angles = (torch.rand(n, 2) - 0.5) * 3
    x = torch.cos(angles[:, 0]) + 0.7 * torch.cos(angles.sum(1))
    y = torch.sin(angles[:, 0]) + 0.7 * torch.sin(angles.sum(1))
    return angles, torch.stack([x, y], 1)


class Trainer:
    def __init__(self, cfg):
        torch.manual_seed(cfg.seed)
        self.cfg = cfg
        self.model = nn.Sequential(
            nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2)
        )
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=cfg.lr, momentum=0.9)
        self.loss = nn.MSELoss()
        self.valid = arm(500)

    def step(self):
        angles, position = arm(self.cfg.batch)
        self.optimizer.zero_grad()
        loss = self.loss(self.model(angles), position)
        loss.backward()
        clip_grad_norm_(self.model.parameters(), self.cfg.max_norm)
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def evaluate(self):
        return self.loss(self.model(self.valid[0]), self.valid[1]).item()

    def run(self):
        for n in range(1, self.cfg.steps + 1):
            loss = self.step()
            if n % 50 == 0:
                print(f"[{n:4d}] loss: {loss:.5f} val_loss: {self.evaluate():.5f}")


if __name__ == "__main__":
    Trainer(Config()).run()
