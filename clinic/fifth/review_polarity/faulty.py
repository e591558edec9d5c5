import random
import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence

random.seed(4); torch.manual_seed(4)
POS = ['great', 'lovely', 'sharp', 'moving', 'funny', 'clever', 'warm', 'bold']
NEG = ['dull', 'flat', 'messy', 'cold', 'lazy', 'loud', 'weak', 'vain']
NOUN = ['plot', 'cast', 'score', 'film', 'ending', 'script', 'camera', 'pace']
FILL = ['the', 'a', 'and', 'then', 'we', 'saw', 'it', 'was', 'so', 'very', 'quite', 'there', 'with']


def review():
    words, s = [], 0
    for _ in range(random.choice([1, 1, 2, 2, 3, 4, 9])):
        words += random.choices(FILL, k=random.randint(0, 3)) + [random.choice(NOUN)]
        neg = random.random() < .35
        v = random.choice([-1, 1])
        if neg:
            words.append('not')
            if random.random() < .5:
                words.append('very')
        words.append(random.choice(POS if v > 0 else NEG))
        s += v * (-1 if neg else 1)
    y = int(s > 0) if s else random.randint(0, 1)
    if random.random() < .04:
        y = 1 - y
    return words, y


data = [review() for _ in range(6000)]
vocab = {'<pad>': 0}
for w, _ in data:
    for t in w:
        vocab.setdefault(t, len(vocab))


def collate(rows):
    seqs = [torch.tensor([vocab[t] for t in w]) for w, _ in rows]
    return pad_sequence(seqs, batch_first=True), torch.tensor([len(s) for s in seqs]), torch.tensor([y for _, y in rows])


class Clf(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), 24, padding_idx=0)
        self.lstm = nn.LSTM(24, 48, batch_first=True)
        self.fc = nn.Linear(48, 2)

    def forward(self, x, lengths):
        h, _ = self.lstm(self.emb(x))
        return self.fc(h[:, -1])


train_loader = torch.utils.data.DataLoader(data[:5000], batch_size=40, shuffle=True, collate_fn=collate)
test_loader = torch.utils.data.DataLoader(data[5000:], batch_size=200, collate_fn=collate)
model = Clf()
opt = torch.optim.Adam(model.parameters(), lr=1.5e-3)
ce = nn.CrossEntropyLoss()
EPOCHS = 9
for ep in range(EPOCHS):
    model.train()
    tot = n = hit = 0
    for x, l, y in train_loader:
        out = model(x, l)
        loss = ce(out, y)
        opt.zero_grad(); loss.backward(); opt.step()
        tot += loss.item() * len(y); n += len(y); hit += (out.argmax(1) == y).sum().item()
    model.eval()
    good = 0
    with torch.no_grad():
        for x, l, y in test_loader:
            good += (model(x, l).argmax(1) == y).sum().item()
    print(f'{ep + 1}/{EPOCHS}: 100%|##########| loss={tot / n:.4f}, acc={hit / n:.4f}, test_acc={good / 1000:.4f}')
