import torch
import torch.nn as nn

TEXT = ("the quick brown fox jumps over the lazy dog while the small red hen "
        "looks at the moon and sings a song of six pence for the king ") * 40
chars = sorted(set(TEXT))
stoi = {c: i for i, c in enumerate(chars)}
data = torch.tensor([stoi[c] for c in TEXT])
split = int(0.9 * len(data))
torch.manual_seed(0)


class CharLM(nn.Module):
    def __init__(self, n_vocab, dim=64):
        super().__init__()
        self.drop = nn.Dropout(0.1)
        self.encoder = nn.Embedding(n_vocab, dim)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.decoder = nn.Linear(dim, n_vocab, bias=False)
        self.decoder.weight = self.encoder.weight
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)

    def forward(self, x):
        out, _ = self.rnn(self.drop(self.encoder(x)))
        return self.decoder(self.drop(out))


def batch(part, n=24, length=32):
    src = data[:split] if part == "train" else data[split:]
    starts = torch.randint(0, len(src) - length - 1, (n,))
    x = torch.stack([src[s:s + length] for s in starts])
    y = torch.stack([src[s + 1:s + length + 1] for s in starts])
    return x, y


model = CharLM(len(chars))
optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
criterion = nn.CrossEntropyLoss()
for it in range(1, 401):
    model.train()
    x, y = batch("train")
    loss = criterion(model(x).reshape(-1, len(chars)), y.reshape(-1))
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 5.0)
    optimizer.step()
    if it % 40 == 0:
        model.eval()
        with torch.no_grad():
            x, y = batch("val")
            v = criterion(model(x).reshape(-1, len(chars)), y.reshape(-1))
        print(f"| iter {it} | loss {loss.item():.3f} | valid loss {v.item():.3f} | ppl {v.exp().item():.2f}")
