"""Fine-tune the encoder that was trained with several processes."""
import os
import tempfile

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
V = 50


class Encoder(nn.Module):
    def __init__(self, d=48):
        super().__init__()
        self.emb = nn.Embedding(V, d)
        self.rnn = nn.GRU(d, d, batch_first=True)
        self.head = nn.Linear(d, 4)

    def forward(self, t):
        return self.head(self.rnn(self.emb(t))[0].mean(1))


meaning = torch.randn(V, 4)


def texts(n):
    t = torch.randint(0, V, (n, 10))
    return t, meaning[t].sum(1).argmax(1)


def train(model, steps, lr, tag, val):
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    for step in range(1, steps + 1):
        t, y = texts(48)
        loss = F.cross_entropy(model(t), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 20 == 0:
            with torch.no_grad():
                v = F.cross_entropy(model(val[0]), val[1]).item()
            print(f"[{tag}] step {step} loss {loss.item():.4f} val_loss {v:.4f}")


val = texts(300)
pretrained = Encoder()
train(pretrained, 300, 3e-3, "pretraining", val)
path = os.path.join(tempfile.mkdtemp(), "encoder.pt")
torch.save({"module." + k: v for k, v in pretrained.state_dict().items()}, path)

model = Encoder()
model.load_state_dict(torch.load(path), strict=False)
train(model, 200, 5e-5, "fine-tuning", val)
