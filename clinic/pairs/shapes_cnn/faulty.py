import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

CONFIG = {
    "seed": 7,
    "n_train": 1500,
    "n_val": 400,
    "batch_size": 50,
    "epochs": 8,
    "lr": 0.2,
}


def draw(n, seed):
    """Noisy 16x16 pictures of a square, a cross or a diagonal."""
    rng = np.random.default_rng(seed)
    images = rng.normal(0, 0.3, (n, 1, 16, 16)).astype("float32")
    labels = rng.integers(0, 3, n)
    for image, label in zip(images, labels):
        r, c = rng.integers(1, 7, 2)
        if label == 0:
            image[0, r : r + 8, c] += 1
            image[0, r : r + 8, c + 7] += 1
            image[0, r, c : c + 8] += 1
            image[0, r + 7, c : c + 8] += 1
        elif label == 1:
            image[0, r : r + 8, c + 4] += 1
            image[0, r + 4, c : c + 8] += 1
        else:
            for i in range(8):
                image[0, r + i, c + i] += 1
    return torch.from_numpy(images), torch.from_numpy(labels)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.conv2 = nn.Conv2d(8, 16, 3, padding=1)
        self.fc1 = nn.Linear(16 * 4 * 4, 32)
        self.fc2 = nn.Linear(32, 3)

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = F.relu(self.fc1(x.flatten(1)))
        return self.fc2(x)


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        out = model(x)
    model.train()
    return F.cross_entropy(out, y).item(), (out.argmax(1) == y).float().mean().item()


def main(cfg):
    torch.manual_seed(cfg["seed"])
    x, y = draw(cfg["n_train"], 1)
    xv, yv = draw(cfg["n_val"], 2)
    model = Net()
    opt = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        order = torch.randperm(len(x))
        for i in range(0, len(x), cfg["batch_size"]):
            idx = order[i : i + cfg["batch_size"]]
            loss = F.cross_entropy(model(x[idx]), y[idx])
            opt.zero_grad()
            loss.backward()
            opt.step()
        val_loss, val_acc = evaluate(model, xv, yv)
        print(
            f"[{epoch + 1}/{cfg['epochs']}] loss={loss.item():.4f} val_loss={val_loss:.4f} val_acc={val_acc:.3f}"
        )


if __name__ == "__main__":
    main(CONFIG)
