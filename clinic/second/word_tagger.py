"""Part-of-speech tags for a vocabulary with Zipf frequencies."""
import torch
import torch.nn as nn

torch.manual_seed(0)
VOCAB, TAGS, DIM = 500, 12, 32
freq = 1.0 / torch.arange(1, VOCAB + 1).float()
tag_of = torch.randint(0, TAGS, (VOCAB,))


def sentences(n, length=12):
    w = torch.multinomial(freq, n * length, replacement=True).view(n, length)
    prev = torch.roll(w, 1, 1)
    prev[:, 0] = 0
    return w, (tag_of[w] + (tag_of[prev] % 2)) % TAGS


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, DIM)
        nn.init.normal_(self.emb.weight, std=0.02)
        self.pos = nn.Parameter(0.02 * torch.randn(1, 12, DIM))
        layer = nn.TransformerEncoderLayer(DIM, 4, 64, dropout=0.0, batch_first=True, norm_first=True)
        self.enc = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.out = nn.Linear(DIM, TAGS)

    def forward(self, w):
        return self.out(self.enc(self.emb(w) + self.pos))


model = Tagger()
optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
ce = nn.CrossEntropyLoss()
wv, tv = sentences(200)
for it in range(400):
    w, t = sentences(32)
    loss = ce(model(w).flatten(0, 1), t.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if it % 25 == 24:
        with torch.no_grad():
            out = model(wv)
        print(f"iter {it + 1} loss {loss.item():.4f} val_loss {ce(out.flatten(0, 1), tv.flatten()).item():.4f} acc {(out.argmax(2) == tv).float().mean():.3f}")
