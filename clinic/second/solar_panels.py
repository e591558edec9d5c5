import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(0)


class SolarNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden1 = nn.Linear(6, 40)
        self.hidden2 = nn.Linear(40, 40)
        self.output = nn.Linear(40, 1)

    def forward(self, x):
        x = torch.relu(self.hidden1(x))
        x = torch.relu(self.hidden2(x))
        return self.output(x)


sky = torch.randn(2400, 6)
yield_kwh = (sky[:, 0:1] * 1.5 - sky[:, 1:2] ** 2 * 0.4 + sky[:, 2:3] * sky[:, 3:4] * 0.6) + 0.1 * torch.randn(2400, 1)
model = SolarNet()
criterion = nn.MSELoss()
optimizer = optim.SGD(model.parameters(), lr=0.005)

for epoch in range(10):
    # training
    model.train()
    train_loss = 0.0
    for start in range(0, 2000, 50):
        inputs = sky[start:start + 50]
        targets = yield_kwh[start:start + 50]
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        loss.backward()
        optimizer.step()
        train_loss += loss.item()
    # validation
    model.eval()
    with torch.no_grad():
        val_loss = criterion(model(sky[2000:]), yield_kwh[2000:]).item()
    print(f"Epoch {epoch + 1}, train loss: {train_loss / 40:.4f}, val loss: {val_loss:.4f}")
