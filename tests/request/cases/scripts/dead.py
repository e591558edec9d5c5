import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(1)
X = torch.randn(800, 20)
W = torch.randn(20, 4)
Y = (X @ W).argmax(1)
loader = DataLoader(TensorDataset(X, Y), batch_size=50, shuffle=True)


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(20, 64)
        self.fc2 = nn.Linear(64, 64)
        self.out = nn.Linear(64, 4)
        for layer in (self.fc1, self.fc2):
            nn.init.constant_(layer.bias, -4.0)

    def forward(self, x):
        return self.out(F.relu(self.fc2(F.relu(self.fc1(x)))))


model = MLP()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for epoch in range(15):
    running = 0
    for xb, yb in loader:
        optimizer.zero_grad()
        loss = F.cross_entropy(model(xb), yb)
        loss.backward()
        optimizer.step()
        running += loss.item()
    print("Epoch", epoch + 1, "loss", round(running / len(loader), 4))
