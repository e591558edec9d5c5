"""A small BiLSTM tagger on sentences produced by a toy grammar."""
import random
import torch
from torch import nn

random.seed(11)
torch.manual_seed(11)

NAMES = [f"n{i}" for i in range(120)]
FILL = [f"w{i}" for i in range(60)]
CUES = {"PER": ["mr", "dr", "dear"], "LOC": ["in", "near", "at"], "ORG": ["joined", "sued"]}
AFTER = {"PER": ["said", "smiled"], "LOC": ["street", "region"], "ORG": ["inc", "shares"]}
TAGS = ["O", "PER", "LOC", "ORG"]
T = 18


def sentence():
    words, tags = [], []
    while len(words) < T:
        r = random.random()
        if r < 0.55:
            words.append(random.choice(FILL)); tags.append("O")
        elif r < 0.62:
            words.append(random.choice(NAMES)); tags.append("O")
        else:
            kind = random.choice(TAGS[1:])
            before = random.random() < 0.6
            if before:
                words.append(random.choice(CUES[kind])); tags.append("O")
            k = random.choice([1, 1, 2])
            words += random.choices(NAMES, k=k); tags += [kind] * k
            if not before or random.random() < 0.15:
                words.append(random.choice(AFTER[kind])); tags.append("O")
    return words[:T], tags[:T]


corpus = [sentence() for _ in range(7800)]
vocab = {w: i for i, w in enumerate(sorted({w for s, _ in corpus for w in s}))}
X = torch.tensor([[vocab[w] for w in s] for s, _ in corpus])
Y = torch.tensor([[TAGS.index(t) for t in ts] for _, ts in corpus])
Xtr, Ytr, Xte, Yte = X[:7000], Y[:7000], X[7000:], Y[7000:]


class Tagger(nn.Module):
    def __init__(self, n_words, n_tags, emb=32, hid=48):
        super().__init__()
        self.embed = nn.Embedding(n_words, emb)
        self.drop = nn.Dropout(0.2)
        self.rnn = nn.LSTM(emb, hid, bidirectional=True, batch_first=True)
        self.proj = nn.Linear(2 * hid, n_tags)

    def forward(self, ids):
        h, _ = self.rnn(self.drop(self.embed(ids)))
        return self.proj(self.drop(h))


def evaluate(model):
    model.eval()
    tp = fp = fn = 0
    with torch.no_grad():
        for i in range(0, len(Xte), 30):
            p = model(Xte[i:i + 30]).argmax(-1)
            g = Yte[i:i + 30]
            tp += ((p == g) & (g > 0)).sum().item()
            fp += ((p != g) & (p > 0)).sum().item()
            fn += ((p != g) & (g > 0)).sum().item()
    return 2 * tp / max(1, 2 * tp + fp + fn)


model = Tagger(len(vocab), len(TAGS))
optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
criterion = nn.CrossEntropyLoss()
step = 0
for epoch in range(10):
    model.train()
    order = torch.randperm(len(Xtr))
    for i in range(0, len(order), 30):
        idx = order[i:i + 30]
        logits = model(Xtr[idx])
        loss = criterion(logits.reshape(-1, len(TAGS)), Ytr[idx].reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        if step % 50 == 0:
            print(f"step {step:5d} | loss {loss.item():.4f}")
    print(f"--- epoch {epoch + 1} | entity F1 {evaluate(model):.4f}")
