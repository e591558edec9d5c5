import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
rng = np.random.default_rng(2)


def read_folder_per_class(per_class):
    """Ten folders of 8x8 pictures, read one after the other."""
    images, labels = [], []
    for digit in range(10):
        images.append(templates[digit] + rng.normal(0, 1.0, (per_class, 64)))
        labels += [digit] * per_class
    return TensorDataset(torch.tensor(np.concatenate(images), dtype=torch.float32), torch.tensor(labels))


templates = rng.normal(0, 0.6, (10, 64))
train_loader = DataLoader(read_folder_per_class(240), batch_size=40)
val_loader = DataLoader(read_folder_per_class(50), batch_size=500)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(64, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x):
        return self.fc2(torch.relu(self.fc1(x)))


model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=5e-3)
loss_fn = nn.CrossEntropyLoss()
for epoch in range(8):
    for step, (x, y) in enumerate(train_loader):
        optimizer.zero_grad()
        loss = loss_fn(model(x), y)
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            print(f"  epoch {epoch} step {step} loss {loss.item():.4f}")
    with torch.no_grad():
        for x, y in val_loader:
            out = model(x)
            print(
                f"epoch {epoch}: val_loss {loss_fn(out, y).item():.4f} val_acc {(out.argmax(1) == y).float().mean().item():.3f}"
            )
