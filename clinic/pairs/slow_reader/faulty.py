import hashlib

import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Documents(Dataset):
    """Documents of 300 words as hashed bags of words."""

    def __init__(self, n, seed):
        rng = np.random.default_rng(seed)
        self.label = rng.integers(0, 3, n)
        low = 400 * self.label
        self.text = [
            " ".join(f"word{k}" for k in np.r_[rng.integers(a, a + 500, 90), rng.integers(0, 1400, 210)])
            for a in low
        ]
        self.cache = {}

    def __len__(self):
        return len(self.label)

    def encode(self, text):
        bag = np.zeros(256, dtype=np.float32)
        for word in text.split():
            bag[int(hashlib.sha256(word.encode()).hexdigest(), 16) % 256] += 1
        return np.log1p(bag)

    def __getitem__(self, i):
        return torch.from_numpy(self.encode(self.text[i])), int(self.label[i])


torch.manual_seed(1)
train_loader = DataLoader(Documents(800, 0), batch_size=32, shuffle=True)
val_loader = DataLoader(Documents(200, 1), batch_size=100)
model = nn.Sequential(nn.Linear(256, 64), nn.ReLU(), nn.Dropout(0.3), nn.Linear(64, 3))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
criterion = nn.CrossEntropyLoss()
for epoch in range(10):
    model.train()
    total = 0.0
    for bags, labels in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(bags), labels)
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        outs = [(model(b), y) for b, y in val_loader]
    val_loss = sum(criterion(o, y).item() for o, y in outs) / len(outs)
    val_acc = sum((o.argmax(1) == y).sum().item() for o, y in outs) / 200
    print(
        f"epoch {epoch + 1} loss {total / len(train_loader):.4f} val_loss {val_loss:.4f} val_acc {val_acc:.3f}"
    )
