# Glyph recognition: 20 synthetic symbols, 14x14 pixels, random shifts and pixel noise.
import torch
import torch.nn as nn
import torch.nn.functional as F

N_CLASSES = 20
SIZE = 14
EPOCHS = 8
BATCH = 64

torch.manual_seed(11)


def draw_prototypes():
    g = torch.Generator().manual_seed(99)
    coarse = torch.randn(N_CLASSES, 1, 5, 5, generator=g)
    return F.interpolate(coarse, size=(SIZE, SIZE), mode="bilinear", align_corners=False)


def sample(protos, n, seed):
    g = torch.Generator().manual_seed(seed)
    labels = torch.randint(0, N_CLASSES, (n,), generator=g)
    imgs = protos[labels].clone()
    dx = torch.randint(-2, 3, (n,), generator=g).tolist()
    dy = torch.randint(-2, 3, (n,), generator=g).tolist()
    for i in range(n):
        imgs[i] = torch.roll(imgs[i], shifts=(dy[i], dx[i]), dims=(1, 2))
    gain = 0.7 + 0.6 * torch.rand(n, 1, 1, 1, generator=g)
    return imgs * gain + 0.6 * torch.randn(imgs.shape, generator=g), labels


class Backbone(nn.Module):
    def __init__(self, width=16):
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 3, padding=1)
        self.conv2 = nn.Conv2d(width, 2 * width, 3, padding=1)
        self.dim = 2 * width * 9

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return x.flatten(1)


class GlyphHead(nn.Module):
    def __init__(self, dim, n_classes):
        super().__init__()
        self.hidden = nn.Linear(dim, 64)
        self.drop = nn.Dropout(0.2)
        self.out = nn.Linear(64, n_classes)

    def forward(self, z):
        z = self.drop(F.relu(self.hidden(z)))
        return self.out(z)


class GlyphNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone = Backbone()
        self.head = GlyphHead(self.backbone.dim, N_CLASSES)

    def forward(self, x):
        return self.head(self.backbone(x))


protos = draw_prototypes()
train_x, train_y = sample(protos, 5000, seed=1)
valid_x, valid_y = sample(protos, 1000, seed=2)

net = GlyphNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.SGD(net.parameters(), lr=0.03, momentum=0.9, nesterov=True)

for epoch in range(EPOCHS):
    net.train()
    perm = torch.randperm(len(train_x))
    losses = []
    for b in perm.split(BATCH):
        scores = net(train_x[b])
        loss = criterion(scores, train_y[b])
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())

    net.eval()
    with torch.no_grad():
        scores = net(valid_x)
        vloss = criterion(scores, valid_y).item()
        top1 = (scores.argmax(1) == valid_y).float().mean().item()
    print("epoch %d: train loss %.4f, valid loss %.4f, valid top-1 %.1f%%" % (
        epoch + 1, sum(losses) / len(losses), vloss, 100 * top1))
