import random

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class ArticleTags(Dataset):
    """Bag-of-words articles with several tags each."""

    def __init__(self, n, seed, n_words=120, n_tags=12):
        world = np.random.default_rng(5)
        topic_words = world.dirichlet(np.full(n_words, 0.15), size=n_tags)
        background = world.dirichlet(np.full(n_words, 1.0))
        rng = np.random.default_rng(seed)
        tags = (rng.random((n, n_tags)) < 0.2).astype(np.float32)
        weights = tags / np.maximum(tags.sum(1, keepdims=True), 1)
        dist = 0.55 * background + 0.45 * (weights @ topic_words)
        dist = dist / dist.sum(1, keepdims=True)
        counts = np.stack([rng.multinomial(60, p) for p in dist])
        self.bow = torch.tensor(np.log1p(counts), dtype=torch.float32)
        self.tags = torch.tensor(tags)

    def __len__(self):
        return len(self.bow)

    def __getitem__(self, i):
        return self.bow[i], self.tags[i]


class Tagger(nn.Module):
    def __init__(self, n_words=120, n_tags=12, width=256, p=0.5):
        super().__init__()
        self.body = nn.Sequential(
            nn.Linear(n_words, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(p),
            nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(p),
        )
        self.tags = nn.Linear(width, n_tags)

    def forward(self, x):
        return self.tags(self.body(x))


def evaluate(model, loader, criterion):
    model.eval()
    loss, n, tp, fp, fn = 0.0, 0, 0.0, 0.0, 0.0
    with torch.no_grad():
        for x, t in loader:
            out = model(x)
            loss += criterion(out, t).item() * len(x)
            n += len(x)
            hit = (out > 0).float()
            tp += (hit * t).sum().item()
            fp += (hit * (1 - t)).sum().item()
            fn += ((1 - hit) * t).sum().item()
    return loss / n, 2 * tp / max(2 * tp + fp + fn, 1)


def fit(model, train_loader, val_loader, epochs, lr):
    criterion = nn.BCEWithLogitsLoss()
    optimizer = torch.optim.AdamW(model.parameters(), lr=lr, weight_decay=1e-2)
    loss0, f0 = evaluate(model, val_loader, criterion)
    print(f"before training: val_loss={loss0:.4f} f1={f0:.3f}")
    model.train()
    for epoch in range(epochs):
        total = 0.0
        for x, t in train_loader:
            optimizer.zero_grad()
            loss = criterion(model(x), t)
            loss.backward()
            optimizer.step()
            total += loss.item()
        val_loss, f1 = evaluate(model, val_loader, criterion)
        print(f"epoch={epoch} train_loss={total / len(train_loader):.4f} val_loss={val_loss:.4f} f1={f1:.3f}")


if __name__ == "__main__":
    set_seed(17)
    train_loader = DataLoader(ArticleTags(1500, seed=100), batch_size=32, shuffle=True, drop_last=True)
    val_loader = DataLoader(ArticleTags(1000, seed=200), batch_size=250)
    fit(Tagger(), train_loader, val_loader, epochs=15, lr=1e-3)
