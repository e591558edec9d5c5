import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(8)
x = torch.randn(400, 15)
y = torch.randint(0, 2, (400,))
dataset = TensorDataset(x, y)
train = DataLoader(dataset, batch_size=20, shuffle=True)
valid = DataLoader(dataset, batch_size=100)
model = nn.Sequential(nn.Linear(15, 256), nn.ReLU(), nn.Linear(256, 2))
optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
loss_function = nn.CrossEntropyLoss()
for epoch in range(20):
    model.train()
    for a, b in train:
        optimizer.zero_grad()
        loss = loss_function(model(a), b)
        loss.backward()
        optimizer.step()
    model.eval()
    right = 0
    with torch.no_grad():
        for a, b in valid:
            right += (model(a).argmax(1) == b).sum().item()
    print(f"epoch {epoch}: train loss {loss.item():.3f}, validation accuracy {right / len(dataset):.3f}")
