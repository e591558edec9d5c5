import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F


class UNetish(nn.Module):
    def __init__(self):
        super().__init__()
        self.down = nn.Sequential(
            nn.Conv2d(1, 12, 3, padding=1), nn.ReLU(), nn.Conv2d(12, 24, 3, stride=2, padding=1), nn.ReLU()
        )
        self.up = nn.Sequential(nn.ConvTranspose2d(24, 12, 2, stride=2), nn.ReLU())
        self.out = nn.Conv2d(13, 1, 3, padding=1)

    def forward(self, x):
        return self.out(torch.cat([self.up(self.down(x)), x], dim=1))


def blobs(n, rng):
    """Bright discs under noise, and where they are."""
    yy, xx = np.mgrid[0:16, 0:16]
    cy, cx = rng.uniform(4, 12, (2, n, 1, 1))
    radius = rng.uniform(2, 4, (n, 1, 1))
    mask = ((yy - cy) ** 2 + (xx - cx) ** 2 < radius**2).astype("float32")
    return torch.tensor(mask + rng.normal(0, 0.7, mask.shape), dtype=torch.float32)[:, None], torch.tensor(
        mask
    )[:, None]


torch.manual_seed(5)
rng = np.random.default_rng(5)
images, masks = blobs(800, rng)
val_images, val_masks = blobs(160, rng)
model = UNetish()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
scaler = torch.amp.GradScaler("cpu")

for epoch in range(6):
    model.train()
    for idx in torch.randperm(800).split(20):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(images[idx])
        loss = F.binary_cross_entropy_with_logits(logits.float(), masks[idx])
        scaler.scale(loss).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
    model.eval()
    with torch.no_grad():
        logits = model(val_images)
        val_loss = F.binary_cross_entropy_with_logits(logits, val_masks).item()
        iou = ((logits > 0) & (val_masks > 0)).sum() / ((logits > 0) | (val_masks > 0)).sum()
    print(f"epoch {epoch + 1} loss {loss.item():.4f} val_loss {val_loss:.4f} iou {iou.item():.3f}")
