import random

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def set_seed(s):
    random.seed(s)
    np.random.seed(s)
    torch.manual_seed(s)


def synth_corpus(n_seq, length, vocab, table, rng):
    out = np.zeros((n_seq, length), dtype=np.int64)
    out[:, :2] = rng.integers(0, vocab, size=(n_seq, 2))
    for t in range(2, length):
        follow = table[out[:, t - 2], out[:, t - 1]]
        noise = rng.integers(0, vocab, size=n_seq)
        out[:, t] = np.where(rng.random(n_seq) < 0.85, follow, noise)
    return torch.from_numpy(out)


class NextToken(nn.Module):
    def __init__(self, vocab, emb=16, hidden=48):
        super().__init__()
        self.embed = nn.Embedding(vocab, emb)
        self.rnn = nn.GRU(emb, hidden, batch_first=True)
        self.proj = nn.Linear(hidden, vocab)

    def forward(self, tokens):
        h, _ = self.rnn(self.embed(tokens))
        return self.proj(h)


class Trainer:
    def __init__(self, model, train_dl, valid_dl, lr=0.6, momentum=0.9, accum_steps=8, max_epochs=8):
        self.model = model
        self.train_dl = train_dl
        self.valid_dl = valid_dl
        self.accum_steps = accum_steps
        self.max_epochs = max_epochs
        self.criterion = nn.CrossEntropyLoss()
        self.optim = torch.optim.SGD(model.parameters(), lr=lr, momentum=momentum)

    def _loss(self, seq):
        logits = self.model(seq[:, :-1])
        return self.criterion(logits.flatten(0, 1), seq[:, 1:].flatten()), logits

    def fit_epoch(self):
        self.model.train()
        running, n = 0.0, 0
        self.optim.zero_grad()
        for i, (seq,) in enumerate(self.train_dl, start=1):
            loss, _ = self._loss(seq)
            (loss / self.accum_steps).backward()
            running += loss.item()
            n += 1
            if i % self.accum_steps == 0:
                self.optim.step()
                self.optim.zero_grad()
        return running / n

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        losses, hits, count = [], 0, 0
        for (seq,) in self.valid_dl:
            loss, logits = self._loss(seq)
            losses.append(loss.item())
            hits += (logits.argmax(-1) == seq[:, 1:]).sum().item()
            count += seq[:, 1:].numel()
        return sum(losses) / len(losses), hits / count

    def run(self):
        for ep in range(1, self.max_epochs + 1):
            tr = self.fit_epoch()
            va, acc = self.validate()
            print("[%2d/%d] train=%.4f valid=%.4f next-token acc=%.4f" % (ep, self.max_epochs, tr, va, acc))


if __name__ == "__main__":
    set_seed(3)
    rng = np.random.default_rng(3)
    VOCAB = 8
    table = rng.integers(0, VOCAB, size=(VOCAB, VOCAB))
    train = synth_corpus(1280, 20, VOCAB, table, rng)
    valid = synth_corpus(256, 20, VOCAB, table, rng)
    train_dl = DataLoader(TensorDataset(train), batch_size=8, shuffle=True)
    valid_dl = DataLoader(TensorDataset(valid), batch_size=64)
    Trainer(NextToken(VOCAB), train_dl, valid_dl).run()
