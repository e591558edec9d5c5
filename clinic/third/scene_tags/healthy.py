# multi-label tagging of 16x16 pictures: which of 6 marks does the picture contain?
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

SEED = 2024
np.random.seed(SEED)
torch.manual_seed(SEED)

N_TRAIN, N_VAL, BS, EPOCHS = 3200, 800, 64, 12

MARKS = np.zeros((6, 5, 5), dtype=np.float32)
MARKS[0][2, :] = 1
MARKS[1][:, 2] = 1
MARKS[2][np.arange(5), np.arange(5)] = 1
MARKS[3][np.arange(5), 4 - np.arange(5)] = 1
MARKS[4][[0, 4], :] = 1
MARKS[4][:, [0, 4]] = 1
MARKS[5][1:4, 1:4] = 1


def draw(n):
    imgs = np.abs(np.random.normal(0, 0.12, (n, 1, 16, 16))).astype(np.float32)
    tags = (np.random.rand(n, 6) < 0.3).astype(np.float32)
    for i in range(n):
        for k in np.flatnonzero(tags[i]):
            r, c = np.random.randint(0, 12, 2)
            patch = imgs[i, 0, r:r + 5, c:c + 5]
            np.maximum(patch, MARKS[k] * np.random.uniform(0.6, 1.0), out=patch)
    return torch.from_numpy(np.clip(imgs, 0, 1)), torch.from_numpy(tags)


X_train, Y_train = draw(N_TRAIN)
X_val, Y_val = draw(N_VAL)

net = nn.Sequential(
    nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(),
    nn.MaxPool2d(2),
    nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
    nn.AdaptiveMaxPool2d(2), nn.Flatten(),
    nn.Linear(128, 64), nn.ReLU(),
    nn.Linear(64, 6),
)
for layer in net:
    if isinstance(layer, (nn.Conv2d, nn.Linear)):
        nn.init.kaiming_normal_(layer.weight, nonlinearity="relu")
        nn.init.constant_(layer.bias, 0.0)

optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, EPOCHS)

for epoch in range(EPOCHS):
    net.train()
    order = torch.randperm(N_TRAIN)
    total = 0.0
    for s in range(0, N_TRAIN, BS):
        b = order[s:s + BS]
        loss = F.binary_cross_entropy_with_logits(net(X_train[b]), Y_train[b])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total += loss.item() * len(b)
    scheduler.step()

    net.eval()
    with torch.no_grad():
        out = net(X_val)
        val = F.binary_cross_entropy_with_logits(out, Y_val).item()
        hat = (out > 0).float()
        tp = (hat * Y_val).sum(0)
        f1 = (2 * tp / (hat.sum(0) + Y_val.sum(0)).clamp(min=1)).mean().item()
    print("epoch", epoch + 1, "train %.4f" % (total / N_TRAIN), "val %.4f" % val, "macro-f1 %.3f" % f1)
