import torch
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset


class Lesions(Dataset):
    def __init__(self, n, seed, transform=None):
        g = torch.Generator().manual_seed(seed)
        base = 127 + 25 * torch.randn(4, 3, 10, 10, generator=torch.Generator().manual_seed(7))
        self.labels = torch.randint(0, 4, (n,), generator=g)
        self.images = (base[self.labels] + 60 * torch.randn(n, 3, 10, 10, generator=g)).clamp(0, 255)
        self.transform = transform

    def __len__(self):
        return len(self.labels)

    def __getitem__(self, i):
        image = self.images[i]
        if self.transform is not None:
            image = self.transform(image)
        return image, self.labels[i]


def normalise(image):
    return (image / 255 - 0.5) / 0.25


def main():
    torch.manual_seed(0)
    train = DataLoader(Lesions(1000, 0, transform=normalise), batch_size=40, shuffle=True)
    val = DataLoader(Lesions(300, 1), batch_size=100)
    model = nn.Sequential(nn.Conv2d(3, 12, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(192, 32), nn.ReLU(), nn.Linear(32, 4))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(8):
        model.train()
        tot = 0.0
        for x, y in train:
            optimizer.zero_grad()
            loss = criterion(model(x), y)
            loss.backward()
            optimizer.step()
            tot += loss.item() / len(train)
        model.eval()
        vl = hit = 0.0
        with torch.no_grad():
            for x, y in val:
                out = model(x)
                vl += criterion(out, y).item() / len(val)
                hit += (out.argmax(1) == y).sum().item()
        print(f"epoch {epoch} train_loss {tot:.4f} val_loss {vl:.4f} val_acc {hit / 300:.3f}")


main()
