import torch
import torch.nn as nn

torch.manual_seed(0)
V, L, MASK = 10, 12, 10


def sentences(n):
    """Alternating words: position i repeats position i-2, shifted."""
    a = torch.randint(0, V, (n, 2))
    cols = [a[:, 0], a[:, 1]]
    for _ in range(L - 2):
        cols.append((cols[-2] + 1) % V)
    return torch.stack(cols, 1)


def mask(tokens):
    labels = tokens.clone()
    chosen = torch.rand(tokens.shape) < 0.15
    labels[~chosen] = -100
    inputs = tokens.clone()
    inputs[chosen] = MASK
    return inputs, labels


class MiniBERT(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.tok = nn.Embedding(V + 1, d)
        self.pos = nn.Parameter(torch.randn(1, L, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, 4, 2 * d, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.lm = nn.Linear(d, V)

    def forward(self, x):
        return self.lm(self.enc(self.tok(x) + self.pos))


model = MiniBERT()
opt = torch.optim.AdamW(model.parameters(), lr=2e-3)
sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda s: min(1.0, (s + 1) / 50))
ce = nn.CrossEntropyLoss()
vi, vl = mask(sentences(200))
for step in range(1, 501):
    model.train()
    inp, lab = mask(sentences(48))
    loss = ce(model(inp).view(-1, V), lab.view(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 50 == 0:
        model.eval()
        with torch.no_grad():
            print(f"step {step} mlm_loss {loss.item():.4f} eval_loss {ce(model(vi).view(-1, V), vl.view(-1)).item():.4f}")
