import math

import torch
import torch.nn as nn

torch.manual_seed(1337)
V, BLOCK, DIM = 16, 24, 64


def get_batch(n=32):
    # repeat-with-period sequences: the second half can be predicted from the first
    base = torch.randint(0, V, (n, BLOCK // 2))
    seq = torch.cat([base, base, base[:, :1]], 1)
    return seq[:, :-1], seq[:, 1:]


class GPT(nn.Module):
    def __init__(self):
        super().__init__()
        self.tok, self.pos = nn.Embedding(V, DIM), nn.Embedding(BLOCK, DIM)
        layer = nn.TransformerEncoderLayer(DIM, 4, 4 * DIM, dropout=0.0, batch_first=True, norm_first=True, activation="gelu")
        self.blocks = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.ln = nn.LayerNorm(DIM)
        self.head = nn.Linear(DIM, V, bias=False)

    def forward(self, idx, targets):
        mask = nn.Transformer.generate_square_subsequent_mask(idx.size(1))
        x = self.tok(idx) + self.pos(torch.arange(idx.size(1)))
        logits = self.head(self.ln(self.blocks(x, mask=mask, is_causal=True)))
        return logits, nn.functional.cross_entropy(logits.reshape(-1, V), targets.reshape(-1))


model = GPT()
max_lr, warmup, total = 2e-3, 100, 500
optimizer = torch.optim.AdamW(model.parameters(), lr=max_lr, betas=(0.9, 0.95), weight_decay=0.1)


def lr_at(it):
    if it < warmup:
        return max_lr * (it + 1) / warmup
    return 0.1 * max_lr + 0.45 * max_lr * (1 + math.cos(math.pi * (it - warmup) / (total - warmup)))


for it in range(total):
    for group in optimizer.param_groups:
        group["lr"] = lr_at(it)
    x, y = get_batch()
    logits, loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    if it % 25 == 0:
        model.eval()
        with torch.no_grad():
            val = model(*get_batch(64))[1]
        model.train()
        print(f"step {it}: train loss {loss.item():.4f}, val loss {val.item():.4f}, lr {lr_at(it):.2e}")
