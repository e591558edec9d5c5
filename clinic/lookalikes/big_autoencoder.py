import torch
import torch.nn as nn
from torch.utils.data import DataLoader

torch.manual_seed(3)
torch.set_num_threads(1)


def blobs(n, size=48):
    ax = torch.linspace(-1, 1, size)
    c = torch.rand(n, 2, 2) * 1.4 - 0.7
    s = 0.1 + 0.3 * torch.rand(n, 2)
    img = 0
    for k in range(2):
        dx = (ax[None, None, :] - c[:, k, 0, None, None]) ** 2
        dy = (ax[None, :, None] - c[:, k, 1, None, None]) ** 2
        img = img + torch.exp(-(dx + dy) / (2 * s[:, k, None, None] ** 2))
    return img.clamp(max=1).view(n, -1)


class AutoEncoder(nn.Module):
    def __init__(self, n=48 * 48, code=12):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(n, 128), nn.ReLU(True), nn.Linear(128, 32), nn.ReLU(True), nn.Linear(32, code))
        self.decoder = nn.Sequential(nn.Linear(code, 32), nn.ReLU(True), nn.Linear(32, 128), nn.ReLU(True), nn.Linear(128, n), nn.Sigmoid())

    def forward(self, x):
        return self.decoder(self.encoder(x))


model = AutoEncoder()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
criterion = nn.MSELoss()
loader = DataLoader(blobs(1600), batch_size=64, shuffle=True)
test = blobs(300)
for epoch in range(14):
    model.train()
    total = 0.0
    for batch in loader:
        recon = model(batch)
        loss = criterion(recon, batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item()
    model.eval()
    with torch.no_grad():
        val = criterion(model(test), test).item()
    print(f"epoch [{epoch + 1}/14], loss:{total / len(loader):.5f}, val_loss:{val:.5f}")
