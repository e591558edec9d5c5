import torch
import torch.nn as nn

torch.manual_seed(0)
W = 300
polarity = torch.randn(W)


def reviews(n):
    words = torch.randint(0, W, (n, 12))
    return words, (polarity[words].sum(1) > 0).float()


class Bag(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.EmbeddingBag(W, 32, mode="mean")
        self.fc = nn.Linear(32, 1)

    def forward(self, w):
        return self.fc(self.emb(w)).squeeze(1)


train_x, train_y = reviews(8192)
val_x, val_y = reviews(1000)
batch_size = 8192
model = Bag()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
bce = nn.BCEWithLogitsLoss()
for epoch in range(160):
    for idx in torch.randperm(8192).split(batch_size):
        xb, yb = train_x[idx], train_y[idx]
        optimizer.zero_grad()
        loss = bce(model(xb), yb)
        loss.backward()
        optimizer.step()
    if epoch % 10 == 9:
        with torch.no_grad():
            out = model(val_x)
        print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {bce(out, val_y).item():.4f} acc {((out > 0) == val_y.bool()).float().mean():.3f}")
