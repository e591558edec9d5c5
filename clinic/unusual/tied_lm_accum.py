"""
Second-order Markov 'language', 24 tokens.  Neural trigram LM with tied in/out embeddings.
Memory is scarce, so 4 micro-batches are accumulated per update; the LR schedule counts *updates*.
"""
import math
import torch
from torch import nn
import torch.nn.functional as F

V, EMB, HID = 24, 48, 128
ACCUM, MICRO, SEQ = 4, 16, 24
UPDATES, WARMUP = 600, 60


class Grammar:
    def __init__(self, seed):
        g = torch.Generator().manual_seed(seed)
        r = 5
        E1, E2 = torch.randn(V, r, generator=g), torch.randn(V, r, generator=g)
        O = torch.randn(V, r, generator=g)
        self.table = (1.1 * (E1[:, None] + E2[None]) @ O.T / math.sqrt(2)).softmax(-1)      # P[c | a, b]
        self.g = torch.Generator().manual_seed(seed + 1)

    def speak(self, n, length):
        s = torch.randint(V, (n, 2), generator=self.g)
        out = [s[:, 0], s[:, 1]]
        for _ in range(length + 20):
            out.append(torch.multinomial(self.table[out[-2], out[-1]], 1, generator=self.g).squeeze(1))
        return torch.stack(out[-length:], 1)          # burn-in dropped

    def entropy_rate(self):
        pi = torch.full((V, V), 1 / V ** 2, dtype=torch.double)
        T = self.table.double()
        for _ in range(500):
            pi = torch.einsum("ab,abc->bc", pi, T)
        return -(pi[..., None] * T * T.log()).sum().item()


class TrigramLM(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(V, EMB)
        nn.init.normal_(self.emb.weight, std=EMB ** -0.5)
        self.f1 = nn.Linear(2 * EMB, HID)
        self.f2 = nn.Linear(HID, EMB)
        self.norm = nn.LayerNorm(EMB)
        self.out = nn.Linear(EMB, V)
        self.out.weight = self.emb.weight            # tie

    def forward(self, ids):                          # predicts ids[:, 2:]
        e = self.emb(ids)
        ctx = torch.cat([e[:, :-2], e[:, 1:-1]], -1) * math.sqrt(EMB)
        return self.out(self.norm(self.f2(F.silu(self.f1(ctx)))))


def nll(model, ids):
    return F.cross_entropy(model(ids).flatten(0, 1), ids[:, 2:].flatten())


torch.manual_seed(606)
lang = Grammar(60)
corpus = lang.speak(16000, SEQ)
heldout = lang.speak(2000, SEQ)
floor = lang.entropy_rate()
print(f"uniform {math.log(V):.4f}   entropy rate of the source {floor:.4f}   tokens {corpus.numel()}")

model = TrigramLM()
opt = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.01)
sched = torch.optim.lr_scheduler.LambdaLR(
    opt, lambda u: (u + 1) / WARMUP if u < WARMUP else 0.5 * (1 + math.cos(math.pi * (u - WARMUP) / (UPDATES - WARMUP))))

batches = iter(())
for u in range(1, UPDATES + 1):
    opt.zero_grad()
    total = 0.0
    for _ in range(ACCUM):
        ids = next(batches, None)
        if ids is None:
            batches = iter(corpus[torch.randperm(len(corpus))].split(MICRO))
            ids = next(batches)
        loss = nll(model, ids) / ACCUM
        loss.backward()
        total += loss.item()
    gn = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if u % 30 == 0:
        model.eval()
        with torch.no_grad():
            v = nll(model, heldout).item()
        model.train()
        print(f"update {u:4d} | nll {total:.4f} | heldout {v:.4f} | ppl {math.exp(v):.2f} | gnorm {gn:.3f} | lr {sched.get_last_lr()[0]:.2e}")
