import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
N = 240
labels = torch.randint(0, 3, (N + 150,))
templates = torch.randn(3, 1, 10, 10)
images = templates[labels] * 0.25 + 0.9 * torch.randn(N + 150, 1, 10, 10)
train_x, train_y, val_x, val_y = images[:N], labels[:N], images[N:], labels[N:]


def augment(x):
    x = x + 0.3 * torch.randn_like(x)
    keep = (torch.rand(len(x), 1, 10, 10) > 0.1).float()
    return x * keep


model = nn.Sequential(
    nn.Flatten(), nn.Dropout(0.2), nn.Linear(100, 512), nn.ReLU(), nn.Dropout(0.5), nn.Linear(512, 256), nn.ReLU(),
    nn.Dropout(0.5), nn.Linear(256, 3),
)
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-4, weight_decay=0.1)
loss_fn = nn.CrossEntropyLoss(label_smoothing=0.05)
best, wait = 9.0, 0
for epoch in range(40):
    model.train()
    total = 0.0
    for idx in torch.randperm(N).split(24):
        loss = loss_fn(model(augment(train_x[idx])), train_y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    model.eval()
    with torch.no_grad():
        out = model(val_x)
        val = loss_fn(out, val_y).item()
    print(f"epoch {epoch + 1} loss {total:.4f} val_loss {val:.4f} val_acc {(out.argmax(1) == val_y).float().mean():.3f}")
    best, wait = (val, 0) if val < best else (best, wait + 1)
    if wait == 20:
        break
