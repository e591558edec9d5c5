import torch
import torch.nn as nn

model = nn.Sequential(nn.Linear(20, 50), nn.ReLU(), nn.Linear(50, 3))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, weight_decay=0.01)
criterion = nn.CrossEntropyLoss()
x, y = torch.randn(300, 20), torch.randint(0, 3, (300,))
for epoch in range(10):
    optimizer.zero_grad()
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
