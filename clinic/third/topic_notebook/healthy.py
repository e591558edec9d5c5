#!/usr/bin/env python
# coding: utf-8

# # Topics of short messages

# In[1]:


import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
rng = np.random.default_rng(0)


# In[2]:


VOCAB, TOPICS, LEN = 800, 10, 24
common = rng.dirichlet(np.full(VOCAB, 0.3))
topic_words = [0.65 * common + 0.35 * rng.dirichlet(np.full(VOCAB, 0.05)) for _ in range(TOPICS)]


def messages(topic, n):
    return rng.choice(VOCAB, size=(n, LEN), p=topic_words[topic])


train_x, train_y, val_x, val_y = [], [], [], []
for t in range(TOPICS):
    train_x.append(messages(t, 600))
    train_y.append(np.full(600, t))
    val_x.append(messages(t, 150))
    val_y.append(np.full(150, t))

train_ds = TensorDataset(torch.tensor(np.concatenate(train_x)), torch.tensor(np.concatenate(train_y)))
val_ds = TensorDataset(torch.tensor(np.concatenate(val_x)), torch.tensor(np.concatenate(val_y)))
len(train_ds), len(val_ds)


# In[3]:


train_loader = DataLoader(train_ds, batch_size=32, shuffle=True)
val_loader = DataLoader(val_ds, batch_size=300)


# In[4]:


class MessageNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = nn.Embedding(VOCAB, 32)
        self.conv = nn.Conv1d(32, 48, 3, padding=1)
        self.drop = nn.Dropout(0.3)
        self.fc = nn.Linear(48, TOPICS)

    def forward(self, ids):
        h = self.emb(ids).transpose(1, 2)
        h = torch.relu(self.conv(h)).mean(2)
        return self.fc(self.drop(h))


model = MessageNet()
criterion = nn.CrossEntropyLoss()
optimizer = torch.optim.Adam(model.parameters(), lr=0.002, weight_decay=1e-5)
sum(p.numel() for p in model.parameters())


# In[5]:


history = []
for epoch in range(6):
    model.train()
    tr = 0.0
    for ids, lab in train_loader:
        optimizer.zero_grad()
        loss = criterion(model(ids), lab)
        loss.backward()
        optimizer.step()
        tr += loss.item() / len(train_loader)
    model.eval()
    vl, ok = 0.0, 0
    with torch.no_grad():
        for ids, lab in val_loader:
            out = model(ids)
            vl += criterion(out, lab).item() / len(val_loader)
            ok += (out.argmax(1) == lab).sum().item()
    history.append((tr, vl, ok / len(val_ds)))
    print(f"epoch {epoch}: train loss {tr:.3f}, val loss {vl:.3f}, val acc {ok / len(val_ds):.3f}")


# In[6]:


best = max(history, key=lambda h: h[2])
print("best val acc", best[2])
