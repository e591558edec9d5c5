import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(6)
VOCAB, CTX, DIM = 30, 16, 48


def corpus(length):
    """Walks on a sparse random graph of tokens, some of them rare."""
    g = torch.Generator().manual_seed(99)
    probs = torch.rand(VOCAB, VOCAB, generator=g) ** 8
    probs *= 1.0 / torch.arange(1, VOCAB + 1)
    tokens = [0]
    for _ in range(length - 1):
        tokens.append(torch.multinomial(probs[tokens[-1]], 1).item())
    return torch.tensor(tokens)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln1, self.ln2 = nn.LayerNorm(DIM), nn.LayerNorm(DIM)
        self.attn = nn.MultiheadAttention(DIM, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(DIM, 2 * DIM), nn.GELU(), nn.Linear(2 * DIM, DIM))

    def forward(self, x, mask):
        h = self.ln1(x)
        x = x + self.attn(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.ln2(x))


class LM(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok = nn.Embedding(VOCAB, DIM)
        self.pos = nn.Parameter(0.02 * torch.randn(CTX, DIM))
        nn.init.normal_(self.tok.weight, std=0.02)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, VOCAB, bias=False)

    def forward(self, idx):
        mask = torch.triu(torch.full((idx.shape[1], idx.shape[1]), -math.inf), 1)
        x = self.tok(idx) + self.pos
        for block in self.blocks:
            x = block(x, mask)
        return self.head(self.norm(x))


data = corpus(9000)
train, val = data[:8000], data[8000:]


def batch(source, size=24):
    start = torch.randint(len(source) - CTX - 1, (size,))
    rows = torch.stack([source[s : s + CTX + 1] for s in start])
    return rows[:, :-1], rows[:, 1:]


def loss_on(model, source):
    x, y = batch(source)
    return F.cross_entropy(model(x).flatten(0, 1), y.flatten())


model = LM()
optimizer = torch.optim.SGD(model.parameters(), lr=3e-3)
for it in range(401):
    loss = loss_on(model, train)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    optimizer.step()
    if it % 40 == 0:
        model.eval()
        with torch.no_grad():
            val_loss = sum(loss_on(model, val).item() for _ in range(5)) / 5
        model.train()
        print(f"iter {it}: train loss {loss.item():.4f}, val loss {val_loss:.4f}")
