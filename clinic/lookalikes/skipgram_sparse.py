"""Skip-gram with negative sampling; the embedding gradients are sparse."""
import numpy as np
import torch
import torch.nn as nn
import torch.nn.functional as F

rng = np.random.default_rng(0)
torch.manual_seed(0)
VOCAB, TOPICS = 600, 12
topic_of = rng.integers(0, TOPICS, VOCAB)
by_topic = [np.flatnonzero(topic_of == k) for k in range(TOPICS)]


def pairs(n):
    topics = rng.integers(0, TOPICS, n)
    centre = np.array([rng.choice(by_topic[k]) for k in topics])
    context = np.array([rng.choice(by_topic[k]) for k in topics])
    noise = rng.integers(0, VOCAB, (n, 5))
    return torch.from_numpy(centre), torch.from_numpy(context), torch.from_numpy(noise)


class SkipGram(nn.Module):
    def __init__(self, dim=32):
        super().__init__()
        self.u = nn.Embedding(VOCAB, dim, sparse=True)
        self.v = nn.Embedding(VOCAB, dim, sparse=True)
        nn.init.uniform_(self.u.weight, -0.5 / dim, 0.5 / dim)
        nn.init.zeros_(self.v.weight)

    def forward(self, centre, context, noise):
        u = self.u(centre)
        pos = (u * self.v(context)).sum(1)
        neg = torch.bmm(self.v(noise), u.unsqueeze(2)).squeeze(2)
        return -(F.logsigmoid(pos) + F.logsigmoid(-neg).sum(1)).mean()


model = SkipGram()
opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.01)
for step in range(700):
    loss = model(*pairs(128))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 50 == 0:
        print(f"step {step} loss {loss.item():.4f}")
w = F.normalize(model.u.weight.detach(), dim=1)
near = (w @ w.T - 2 * torch.eye(VOCAB)).argmax(1).numpy()
print("neighbour of the same topic:", (topic_of[near] == topic_of).mean())
