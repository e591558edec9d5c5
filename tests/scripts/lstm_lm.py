import math

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(1111)
torch.set_num_threads(1)

text = "the quick brown fox jumps over the lazy dog. pack my box with five dozen liquor jugs. " * 12
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}


def batchify(data, bsz):
    nbatch = data.size(0) // bsz
    return data[: nbatch * bsz].view(bsz, -1).t().contiguous()


class RNNModel(nn.Module):
    def __init__(self, ntoken, ninp, nhid, nlayers, dropout=0.2):
        super().__init__()
        self.drop = nn.Dropout(dropout)
        self.encoder = nn.Embedding(ntoken, ninp)
        self.rnn = nn.LSTM(ninp, nhid, nlayers, dropout=dropout)
        self.decoder = nn.Linear(nhid, ntoken)
        nn.init.uniform_(self.encoder.weight, -0.1, 0.1)
        nn.init.zeros_(self.decoder.bias)
        self.nhid, self.nlayers = nhid, nlayers

    def forward(self, inp, hidden):
        output, hidden = self.rnn(self.drop(self.encoder(inp)), hidden)
        decoded = self.decoder(self.drop(output))
        return decoded.view(-1, decoded.size(-1)), hidden

    def init_hidden(self, bsz):
        weight = next(self.parameters())
        return tuple(weight.new_zeros(self.nlayers, bsz, self.nhid) for _ in range(2))


def repackage_hidden(h):
    return tuple(v.detach() for v in h)


corpus = batchify(torch.tensor([stoi[c] for c in text]), 8)
train_data, val_data = corpus[:110], corpus[110:]
model = RNNModel(len(chars), 24, 48, 2)
criterion = nn.CrossEntropyLoss()
opt = torch.optim.SGD(model.parameters(), lr=4.0)
bptt, clip = 10, 0.25


def get_batch(source, i):
    seq_len = min(bptt, len(source) - 1 - i)
    return source[i : i + seq_len], source[i + 1 : i + 1 + seq_len].view(-1)


def evaluate(source):
    model.eval()
    total = 0.0
    hidden = model.init_hidden(8)
    with torch.no_grad():
        for i in range(0, source.size(0) - 1, bptt):
            data, targets = get_batch(source, i)
            output, hidden = model(data, hidden)
            total += len(data) * criterion(output, targets).item()
    return total / (len(source) - 1)


step = 0
for epoch in range(1, 5):
    model.train()
    hidden = model.init_hidden(8)
    for batch, i in enumerate(range(0, train_data.size(0) - 1, bptt)):
        data, targets = get_batch(train_data, i)
        model.zero_grad()
        hidden = repackage_hidden(hidden)
        output, hidden = model(data, hidden)
        loss = criterion(output, targets)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), clip)
        opt.step()
        step += 1
        print(
            f"| epoch {epoch:3d} | {batch:5d}/{len(train_data) // bptt:5d} batches | step {step} "
            f"| lr {opt.param_groups[0]['lr']:02.2f} | norm {norm:.6f} | loss {loss.item():.6f} "
            f"| ppl {math.exp(loss.item()):8.2f}"
        )
    val_loss = evaluate(val_data)
    print("-" * 89)
    print(
        f"| end of epoch {epoch:3d} | valid loss {val_loss:.6f} | valid ppl {math.exp(val_loss):8.2f} | at {step}"
    )
    print("-" * 89)
    opt.param_groups[0]["lr"] /= 2

result(model, opt)
