"""The validation samples are among those trained on."""

import torch
from torch import nn

torch.manual_seed(13)
x = torch.randn(500, 20)
y = torch.randint(0, 2, (500,))
data = torch.utils.data.TensorDataset(x, y)
train = torch.utils.data.DataLoader(data, batch_size=50, shuffle=True)
validation = torch.utils.data.DataLoader(torch.utils.data.Subset(data, range(300, 400)), batch_size=50)
model = nn.Sequential(nn.Linear(20, 128), nn.ReLU(), nn.Linear(128, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
for epoch in range(25):
    model.train()
    for inputs, targets in train:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), targets)
        loss.backward()
        optimizer.step()
    model.eval()
    with torch.no_grad():
        val = sum(nn.functional.cross_entropy(model(a), b).item() for a, b in validation) / 2
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {val:.4f}")
