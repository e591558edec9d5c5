"""Online next-click prediction: one event at a time, prequential evaluation."""
import json
import random
import torch
import torch.nn as nn

random.seed(19); torch.manual_seed(19)
PAGES, STEPS = 14, 9000
trans = torch.distributions.Dirichlet(torch.full((PAGES,), 0.12)).sample((PAGES, 2))


class ClickModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.page = nn.Embedding(PAGES, 16)
        self.flag = nn.Embedding(2, 16)
        self.l1 = nn.Linear(16, 48)
        self.l2 = nn.Linear(48, PAGES)

    def forward(self, p, f):
        return self.l2(torch.relu(self.l1(self.page(p) + self.flag(f))))


net = ClickModel()
sgd = torch.optim.SGD(net.parameters(), lr=0.05)
page, hits, entropies, window = 0, 0, 0.0, []
for t in range(1, STEPS + 1):
    member = random.randint(0, 1)
    probs = trans[page, member] * 0.94 + 0.06 / PAGES
    nxt = torch.multinomial(probs, 1)
    logits = net(torch.tensor([page]), torch.tensor([member]))
    loss = nn.functional.cross_entropy(logits, nxt)
    sgd.zero_grad()
    loss.backward()
    sgd.step()
    hit = int(logits.argmax() == nxt)
    window.append((loss.item(), hit, -(probs * probs.log()).sum().item()))
    if t % 20 == 0:
        print(json.dumps({"t": t, "loss": round(loss.item(), 4), "hit": hit}))
    page = nxt.item()
last = window[-2000:]
m = [sum(c) / len(last) for c in zip(*last)]
print(json.dumps({"prequential_loss": round(m[0], 4), "best_possible_loss": round(m[2], 4), "hit_rate": round(m[1], 4)}))
