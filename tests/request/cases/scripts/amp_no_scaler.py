import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

device = torch.device("cuda")
train = DataLoader(
    TensorDataset(torch.randn(1000, 32), torch.randint(0, 5, (1000,))), batch_size=64, shuffle=True
)
model = nn.Sequential(nn.Linear(32, 128), nn.ReLU(), nn.Linear(128, 5)).to(device)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.CrossEntropyLoss()

for epoch in range(10):
    model.train()
    for inputs, labels in train:
        inputs, labels = inputs.to(device), labels.to(device)
        optimizer.zero_grad()
        with torch.autocast(device_type="cuda", dtype=torch.float16):
            loss = criterion(model(inputs), labels)
        loss.backward()
        optimizer.step()
    print(epoch, loss.item())
