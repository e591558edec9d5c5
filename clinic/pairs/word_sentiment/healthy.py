import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset

VOCAB = 400


class Reviews(Dataset):
    """Reviews of 20 words; a third of the words carries some sentiment."""

    def __init__(self, n, seed):
        g = torch.Generator().manual_seed(seed)
        weight = torch.randn(VOCAB, generator=torch.Generator().manual_seed(1)) * (
            torch.arange(VOCAB) % 3 == 0
        )
        self.words = torch.randint(0, VOCAB, (n, 20), generator=g)
        score = weight[self.words].sum(1) + 1.2 * torch.randn(n, generator=g)
        self.label = (score > 0).float()

    def __len__(self):
        return len(self.label)

    def __getitem__(self, i):
        return self.words[i], self.label[i]


class Sentiment(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 48)
        self.dropout = nn.Dropout(0.6)
        self.hidden = nn.Linear(48, 64)
        self.output = nn.Linear(64, 1)

    def forward(self, words):
        h = self.dropout(self.embedding(words).mean(1) * 5)
        h = torch.relu(self.hidden(h))
        return self.output(h).squeeze(1)


def evaluate(model, loader, loss_fn):
    model.eval()
    loss = hits = n = 0
    with torch.no_grad():
        for words, label in loader:
            out = model(words)
            loss += loss_fn(out, label).item() * len(label)
            hits += ((out > 0) == (label > 0)).sum().item()
            n += len(label)
    return loss / n, hits / n


torch.manual_seed(9)
train_loader = DataLoader(Reviews(1600, 2), batch_size=40, shuffle=True)
val_loader = DataLoader(Reviews(600, 3), batch_size=200)
model = Sentiment()
optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=1.0)
loss_fn = nn.BCEWithLogitsLoss()
for epoch in range(12):
    model.train()
    for words, label in train_loader:
        optimizer.zero_grad()
        loss_fn(model(words), label).backward()
        optimizer.step()
    tl, ta = evaluate(model, train_loader, loss_fn)
    vl, va = evaluate(model, val_loader, loss_fn)
    print(f"epoch {epoch + 1} train_loss={tl:.4f} train_acc={ta:.3f} val_loss={vl:.4f} val_acc={va:.3f}")
