import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(19)
DIM = 24
rotation = torch.linalg.qr(torch.randn(DIM, DIM))[0]


def image_text_pairs(n):
    image = torch.randn(n, DIM)
    text = torch.tanh(image @ rotation) + 0.1 * torch.randn(n, DIM)
    return image, text


class Projector(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 64), nn.GELU(), nn.Linear(64, DIM))

    def forward(self, x):
        return self.net(x)


def alignment_loss(predicted, wanted):
    return F.cosine_similarity(predicted, wanted, dim=-1).mean()


def retrieval(predicted, wanted):
    sim = F.normalize(predicted, dim=-1) @ F.normalize(wanted, dim=-1).T
    return (sim.argmax(1) == torch.arange(len(sim))).float().mean().item()


projector = Projector()
optimizer = torch.optim.Adam(projector.parameters(), lr=2e-3)
val_image, val_text = image_text_pairs(400)
for step in range(1, 401):
    image, text = image_text_pairs(64)
    loss = alignment_loss(projector(image), text)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 40 == 0:
        with torch.no_grad():
            out = projector(val_image)
            val_loss = alignment_loss(out, val_text)
        print(
            f"step {step:4d}  loss {loss.item():.4f}  val_loss {val_loss.item():.4f}  recall@1 {retrieval(out, val_text):.3f}"
        )
