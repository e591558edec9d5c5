import torch
import torch.nn as nn
import torch.optim as optim

torch.manual_seed(100)


def rings(n):
    label = torch.randint(0, 3, (n,))
    radius = 0.5 + label + 0.15 * torch.randn(n)
    phi = 2 * torch.pi * torch.rand(n)
    return torch.stack([radius * phi.cos(), radius * phi.sin()], dim=1), label


class RingNet(nn.Module):
    def __init__(self):
        super(RingNet, self).__init__()
        self.layer1 = nn.Linear(2, 32)
        self.layer2 = nn.Linear(32, 32)
        self.layer3 = nn.Linear(32, 3)

    def forward(self, x):
        x = self.layer1(x)
        x = self.layer2(x)
        x = self.layer3(x)
        return x


model = RingNet()
criterion = nn.CrossEntropyLoss()
optimizer = optim.Adam(model.parameters(), lr=0.005)
X, y = rings(2000)
X_test, y_test = rings(500)

for epoch in range(10):
    permutation = torch.randperm(X.size(0))
    for i in range(0, X.size(0), 50):
        indices = permutation[i : i + 50]
        batch_x, batch_y = X[indices], y[indices]
        optimizer.zero_grad()
        outputs = model(batch_x)
        loss = criterion(outputs, batch_y)
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        test_outputs = model(X_test)
        test_loss = criterion(test_outputs, y_test)
        accuracy = (test_outputs.argmax(1) == y_test).float().mean()
    print(
        "Epoch [{}/10], Loss: {:.4f}, Val Loss: {:.4f}, Val Accuracy: {:.2f}".format(
            epoch + 1, loss.item(), test_loss.item(), accuracy.item()
        )
    )
