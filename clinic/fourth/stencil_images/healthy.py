"""Classify 12x12 grey images containing one of six stencils."""
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 11
torch.manual_seed(SEED)
gen = torch.Generator().manual_seed(SEED)

N_CLASSES, SIDE, STENCIL = 6, 12, 5
stencils = (torch.rand(N_CLASSES, STENCIL, STENCIL, generator=gen) > 0.5).float()


def make_images(n):
    labels = torch.randint(0, N_CLASSES, (n,), generator=gen)
    imgs = 0.55 * torch.randn(n, 1, SIDE, SIDE, generator=gen)
    corners = torch.randint(0, SIDE - STENCIL + 1, (n, 2), generator=gen)
    for i in range(n):
        r, c = corners[i].tolist()
        imgs[i, 0, r:r + STENCIL, c:c + STENCIL] += 1.5 * stencils[labels[i]]
    return (imgs - 0.15) / 0.7, labels


class ConvNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1 = nn.Conv2d(1, 16, 3, padding=1)
        self.c2 = nn.Conv2d(16, 32, 3, padding=1)
        self.c3 = nn.Conv2d(32, 32, 3, padding=1)
        self.out = nn.Linear(32, N_CLASSES)

    def forward(self, x):
        x = F.relu(self.c1(x))
        x = F.max_pool2d(F.relu(self.c2(x)), 2)
        x = F.relu(self.c3(x))
        x = x.amax(dim=(2, 3))
        return self.out(x)


OPTIMIZERS = {"sgd": torch.optim.SGD, "adam": torch.optim.Adam, "rmsprop": torch.optim.RMSprop}
OPT_KWARGS = {
    "sgd": dict(lr=0.03, momentum=0.9, weight_decay=1e-4),
    "adam": dict(lr=1e-3),
    "rmsprop": dict(lr=5e-4, alpha=0.95),
}


def evaluate(model, x, y):
    model.eval()
    with torch.no_grad():
        logits = model(x)
    return F.cross_entropy(logits, y).item(), (logits.argmax(1) == y).float().mean().item()


def main(opt_name="sgd", epochs=12, batch=32):
    x_tr, y_tr = make_images(1600)
    x_va, y_va = make_images(600)
    model = ConvNet()
    optimizer = OPTIMIZERS[opt_name](model.parameters(), **OPT_KWARGS[opt_name])
    for epoch in range(epochs):
        model.train()
        order = torch.randperm(len(x_tr), generator=gen)
        total = 0.0
        for idx in order.split(batch):
            loss = F.cross_entropy(model(x_tr[idx]), y_tr[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item() * len(idx)
        va_loss, va_acc = evaluate(model, x_va, y_va)
        print(f"epoch {epoch:02d}  train_loss {total / len(x_tr):.4f}  val_loss {va_loss:.4f}  val_acc {va_acc:.3f}")


if __name__ == "__main__":
    main()
