import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader

torch.manual_seed(1)


def bars(n):
    img = torch.zeros(n, 20, 20)
    for i in range(n):
        r, c = torch.randint(0, 20, (2,))
        img[i, r] = 1
        img[i, :, c] = 1
    flip = torch.rand_like(img) < 0.02
    return torch.where(flip, 1 - img, img).view(n, 400)


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(400, 200)
        self.fc21 = nn.Linear(200, 16)
        self.fc22 = nn.Linear(200, 16)
        self.fc3 = nn.Linear(16, 200)
        self.fc4 = nn.Linear(200, 400)

    def encode(self, x):
        h1 = F.relu(self.fc1(x))
        return self.fc21(h1), self.fc22(h1)

    def reparameterize(self, mu, logvar):
        std = torch.exp(0.5 * logvar)
        return mu + torch.randn_like(std) * std

    def decode(self, z):
        return torch.sigmoid(self.fc4(F.relu(self.fc3(z))))

    def forward(self, x):
        mu, logvar = self.encode(x)
        return self.decode(self.reparameterize(mu, logvar)), mu, logvar


def loss_function(recon_x, x, mu, logvar):
    BCE = F.binary_cross_entropy(recon_x, x, reduction="sum")
    KLD = -0.5 * torch.sum(1 + logvar - mu.pow(2) - logvar.exp())
    return BCE + KLD


train_loader = DataLoader(bars(2560), batch_size=128, shuffle=True)
test_loader = DataLoader(bars(512), batch_size=128)
model = VAE()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)


def train(epoch):
    model.train()
    train_loss = 0
    for batch_idx, data in enumerate(train_loader):
        optimizer.zero_grad()
        recon_batch, mu, logvar = model(data)
        loss = loss_function(recon_batch, data, mu, logvar)
        loss.backward()
        train_loss += loss.item()
        optimizer.step()
        if batch_idx % 10 == 0:
            print(f"Train Epoch: {epoch} [{batch_idx * len(data)}/2560] Loss: {loss.item() / len(data):.6f}")
    print(f"====> Epoch: {epoch} Average loss: {train_loss / 2560:.4f}")


def test():
    model.eval()
    test_loss = 0
    with torch.no_grad():
        for data in test_loader:
            recon_batch, mu, logvar = model(data)
            test_loss += loss_function(recon_batch, data, mu, logvar).item()
    print(f"====> Test set loss: {test_loss / 512:.4f}")


for epoch in range(1, 21):
    train(epoch)
    test()
