import os
from dataclasses import dataclass

import torch
import torch.nn as nn
from fingerprint import result
from torch.utils.data import DataLoader, Dataset


@dataclass
class Config:
    epochs: int = 4
    batch_size: int = 16
    lr: float = 0.02
    momentum: float = 0.9
    weight_decay: float = 5e-4
    step_size: int = 2
    save_dir: str = "checkpoints"


class Stripes(Dataset):
    """16x16 pictures of stripes in one of four directions."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        self.labels = torch.randint(0, 4, (n,), generator=g)
        rows, cols = torch.meshgrid(torch.arange(16.0), torch.arange(16.0), indexing="ij")
        ways = torch.stack([rows, cols, rows + cols, rows - cols])
        self.images = torch.sin(ways[self.labels]) + 0.3 * torch.randn(n, 16, 16, generator=g)

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, index):
        return self.images[index].unsqueeze(0), self.labels[index]


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.bn1 = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.bn2 = nn.BatchNorm2d(16)
        self.relu = nn.ReLU(inplace=True)
        self.pool = nn.MaxPool2d(2)
        self.dropout = nn.Dropout(0.1)
        self.fc = nn.Linear(16 * 4 * 4, 4)

    def forward(self, x):
        x = self.pool(self.relu(self.bn1(self.conv1(x))))
        x = self.pool(self.relu(self.bn2(self.conv2(x))))
        return self.fc(self.dropout(x.flatten(1)))


class Trainer:
    def __init__(self, model, config):
        self.model = model
        self.config = config
        self.criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
        self.optimizer = torch.optim.SGD(
            model.parameters(), config.lr, config.momentum, weight_decay=config.weight_decay, nesterov=True
        )
        self.scheduler = torch.optim.lr_scheduler.StepLR(self.optimizer, config.step_size, gamma=0.1)
        self.best = 0.0
        os.makedirs(config.save_dir, exist_ok=True)

    def fit(self, train_loader, val_loader):
        for epoch in range(self.config.epochs):
            train_loss = self._train_epoch(train_loader)
            val_loss, accuracy = self._validate(val_loader)
            lr = self.optimizer.param_groups[0]["lr"]
            self.scheduler.step()
            print(
                f"[{epoch + 1}] lr={lr:g} train_loss={train_loss:.6f} val_loss={val_loss:.6f} acc={accuracy:.4f}"
            )
            if accuracy > self.best:
                self.best = accuracy
                self.save("best.pt", epoch)
        self.save("last.pt", epoch)

    def _train_epoch(self, loader):
        self.model.train()
        losses = []
        for images, labels in loader:
            loss = self.criterion(self.model(images), labels)
            self.optimizer.zero_grad(set_to_none=False)
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)

    def _validate(self, loader):
        self.model.eval()
        losses, hits, count = [], 0, 0
        with torch.inference_mode():
            for images, labels in loader:
                logits = self.model(images)
                losses.append(self.criterion(logits, labels).item())
                hits += (logits.argmax(-1) == labels).sum().item()
                count += len(labels)
        return sum(losses) / len(losses), hits / count

    def save(self, name, epoch):
        state = {
            "epoch": epoch,
            "model": self.model.state_dict(),
            "optimizer": self.optimizer.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "config": self.config.__dict__,
        }
        torch.save(state, os.path.join(self.config.save_dir, name))


if __name__ == "__main__":
    torch.set_num_threads(1)
    torch.manual_seed(1)
    config = Config()
    trainer = Trainer(ConvNet(), config)
    trainer.fit(
        DataLoader(Stripes(256, 0), batch_size=config.batch_size, shuffle=True),
        DataLoader(Stripes(64, 1), batch_size=32),
    )
    result(trainer.model, trainer.optimizer)
