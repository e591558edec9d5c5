# Predict the set of tags of a movie from its bag of plot words.
import numpy as np
import torch
import torch.nn as nn

torch.manual_seed(123)
g = np.random.default_rng(123)
n_tags, n_words, n = 12, 300, 20000

tag_corr = g.normal(size=(4, n_tags))
Z = g.normal(size=(n, 4))
tags = (Z @ tag_corr + g.normal(size=(n, n_tags)) > 1.6).astype(np.float32)
tag_words = g.gamma(0.25, 1.0, (n_tags, n_words))
rate = 0.12 + 0.55 * tags @ tag_words * g.gamma(3, 1 / 3, (n, 1))
counts = g.poisson(rate).astype(np.float32)
features = np.log1p(counts)
X, Y = torch.tensor(features), torch.tensor(tags)
Xtr, Ytr, Xte, Yte = X[:17000], Y[:17000], X[17000:], Y[17000:]
print("mean tags per movie:", tags.sum(1).mean())


class TagModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(n_words, 128)
        self.bn = nn.BatchNorm1d(128)
        self.fc2 = nn.Linear(128, n_tags)

    def forward(self, x):
        h = torch.relu(self.bn(self.fc1(x)))
        h = nn.functional.dropout(h, 0.4, self.training)
        return self.fc2(h)


def micro_f1(logits, y):
    pred = (torch.sigmoid(logits) > 0.5).float()
    tp = (pred * y).sum()
    return (2 * tp / (pred.sum() + y.sum() + 1e-9)).item()


model = TagModel()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.15, momentum=0.9)
loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(Xtr, Ytr), 50, shuffle=True)

for epoch in range(24):
    model.train()
    ls = []
    for xb, yb in loader:
        loss = criterion(model(xb), yb)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        ls.append(loss.item())
    model.eval()
    with torch.no_grad():
        out = model(Xte)
    print(f"{epoch:02d} loss={np.mean(ls):.4f} val_loss={criterion(out, Yte).item():.4f} microF1={micro_f1(out, Yte):.4f}")
