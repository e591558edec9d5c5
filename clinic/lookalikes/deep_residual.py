import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)


class ResBlock(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.norm = nn.LayerNorm(d)
        self.fc1, self.fc2 = nn.Linear(d, d), nn.Linear(d, d)
        nn.init.zeros_(self.fc2.weight)
        nn.init.zeros_(self.fc2.bias)

    def forward(self, x):
        return x + self.fc2(torch.relu(self.fc1(self.norm(x))))


class ResMLP(nn.Module):
    def __init__(self, d_in=12, d=48, depth=20, classes=3):
        super().__init__()
        self.stem = nn.Linear(d_in, d)
        self.blocks = nn.Sequential(*[ResBlock(d) for _ in range(depth)])
        self.head = nn.Sequential(nn.LayerNorm(d), nn.Linear(d, classes))

    def forward(self, x):
        return self.head(self.blocks(self.stem(x)))


x = torch.randn(4400, 12)
y = ((x[:, 0] * x[:, 1] > 0).long() + (x[:, 2] > x[:, 3]).long())
model = ResMLP()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
criterion = nn.CrossEntropyLoss()
for epoch in range(5):
    model.train()
    for idx in torch.randperm(4000).split(64):
        loss = criterion(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        out = model(x[4000:])
    print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {criterion(out, y[4000:]):.4f} val_acc {(out.argmax(1) == y[4000:]).float().mean():.3f}")
