import torch
import torch.nn as nn

POEM = """shall i compare thee to a summers day thou art more lovely and more temperate rough winds do shake
the darling buds of may and summers lease hath all too short a date sometime too hot the eye of heaven shines and
often is his gold complexion dimmed and every fair from fair sometime declines by chance or natures changing course
untrimmed but thy eternal summer shall not fade nor lose possession of that fair thou owest nor shall death brag
thou wanderest in his shade when in eternal lines to time thou growest so long as men can breathe or eyes can see so
long lives this and this gives life to thee when forty winters shall besiege thy brow and dig deep trenches in thy
beautys field thy youths proud livery so gazed on now will be a tattered weed of small worth held then being asked
where all thy beauty lies where all the treasure of thy lusty days to say within thine own deep sunken eyes were an
all eating shame and thriftless praise""".replace("\n", " ")
vocab = sorted(set(POEM))
ids = torch.tensor([vocab.index(c) for c in POEM])
cut = int(len(ids) * 0.8)
train_ids, val_ids = ids[:cut], ids[cut:]
torch.manual_seed(0)
torch.set_num_threads(1)


class Poet(nn.Module):
    def __init__(self, hidden=160):
        super().__init__()
        self.emb = nn.Embedding(len(vocab), 48)
        self.lstm = nn.LSTM(48, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, len(vocab))

    def forward(self, x):
        return self.fc(self.lstm(self.emb(x))[0])


def windows(source, n, length=24):
    s = torch.randint(0, len(source) - length - 1, (n,))
    return (torch.stack([source[i:i + length] for i in s]), torch.stack([source[i + 1:i + length + 1] for i in s]))


poet = Poet()
opt = torch.optim.Adam(poet.parameters(), lr=5e-3)
ce = nn.CrossEntropyLoss()
for it in range(1, 301):
    x, y = windows(train_ids, 24)
    loss = ce(poet(x).flatten(0, 1), y.flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(poet.parameters(), 5)
    opt.step()
    if it % 15 == 0:
        with torch.no_grad():
            xv, yv = windows(val_ids, 32)
            v = ce(poet(xv).flatten(0, 1), yv.flatten())
        print(f"iter {it} train loss {loss.item():.3f} val loss {v.item():.3f}")
