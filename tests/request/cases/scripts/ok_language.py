import torch
import torch.nn as nn

text = ("the quick brown fox jumps over the lazy dog and runs away from the angry bear . " * 500).split()
vocab = {w: i for i, w in enumerate(sorted(set(text)))}
g = torch.Generator().manual_seed(0)
ids = torch.tensor([vocab[w] for w in text])
noise = torch.rand(len(ids), generator=g) < 0.25
ids[noise] = torch.randint(0, len(vocab), (int(noise.sum()),), generator=g)
torch.manual_seed(0)


class LM(nn.Module):
    def __init__(self, v, d=32):
        super().__init__()
        self.emb = nn.Embedding(v, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.head = nn.Linear(d, v)

    def forward(self, x):
        return self.head(self.rnn(self.emb(x))[0])


model = LM(len(vocab))
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
total = 260
sched = torch.optim.lr_scheduler.OneCycleLR(opt, 5e-3, total_steps=total)
cut = int(0.9 * len(ids))
for step in range(total):
    starts = torch.randint(0, cut - 17, (24,))
    batch = torch.stack([ids[s : s + 17] for s in starts])
    logits = model(batch[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    sched.step()
    if step % 20 == 19:
        with torch.no_grad():
            v = ids[cut : cut + 801][None]
            val = nn.functional.cross_entropy(model(v[:, :-1]).flatten(0, 1), v[:, 1:].flatten())
        print(f"step {step} train {loss.item():.3f} val {val.item():.3f}")
