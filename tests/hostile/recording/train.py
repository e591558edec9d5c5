"""What the recording beside it was made of: `traindx run --out again train.py` makes it anew."""

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
inputs = torch.randn(512, 16)
targets = (inputs[:, 0] * 3 + inputs[:, 1] > 0).long()
training = DataLoader(TensorDataset(inputs[:400], targets[:400]), batch_size=16, shuffle=True)
validation = DataLoader(TensorDataset(inputs[400:], targets[400:]), batch_size=16)
model = nn.Sequential(
    nn.Linear(16, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 2), nn.Softmax(dim=1)
)
optimizer = torch.optim.AdamW(model.parameters(), lr=5.0)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 25, 0.5)
criterion = nn.CrossEntropyLoss()
for epoch in range(3):
    model.train()
    for x, y in training:
        loss = criterion(model(x), y)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        schedule.step()
    model.eval()
    with torch.no_grad():
        held = sum(criterion(model(x), y).item() for x, y in validation) / len(validation)
    print(f"epoch {epoch} loss {loss.item():.4f} val_loss {held:.4f}")
