import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class VoiceNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(40, 128)
        self.fc2 = nn.Linear(128, 128)
        self.fc3 = nn.Linear(128, 10)

    def forward(self, x):
        x = F.dropout(F.relu(self.fc1(x)), p=0.5)
        x = F.dropout(F.relu(self.fc2(x)), p=0.5)
        return self.fc3(x)


speakers = torch.randn(10, 40) * 0.6
y = torch.randint(0, 10, (3000,))
x = speakers[y] + torch.randn(3000, 40)
model = VoiceNet()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(10):
    model.train()
    tot = 0.0
    for b in torch.randperm(2400).split(48):
        loss = F.cross_entropy(model(x[b]), y[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        tot += loss.item() / 50
    model.eval()
    with torch.no_grad():
        out = model(x[2400:])
        val = F.cross_entropy(out, y[2400:]).item()
    print(f"epoch {epoch + 1} loss {tot:.4f} val_loss {val:.4f} val_acc {(out.argmax(1) == y[2400:]).float().mean():.3f}")
