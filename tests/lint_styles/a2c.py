import torch, torch.nn as nn, torch.nn.functional as F
from torch.distributions import Categorical
class AC(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 128); self.actor = nn.Linear(128, 2); self.critic = nn.Linear(128, 1)
        self.saved = []; self.rewards = []
    def forward(self, x):
        x = F.relu(self.body(x))
        return F.softmax(self.actor(x), dim=-1), self.critic(x)
model = AC(); optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
def finish():
    R, losses, values, rets = 0, [], [], []
    for r in model.rewards[::-1]:
        R = r + 0.99 * R; rets.insert(0, R)
    rets = torch.tensor(rets); rets = (rets - rets.mean()) / (rets.std() + 1e-8)
    for (lp, v), R in zip(model.saved, rets):
        adv = R - v.item()
        losses.append(-lp * adv); values.append(F.smooth_l1_loss(v, torch.tensor([R])))
    optimizer.zero_grad()
    loss = torch.stack(losses).sum() + torch.stack(values).sum()
    loss.backward(); optimizer.step()
    del model.rewards[:]; del model.saved[:]
for ep in range(1000):
    state = env.reset()
    for t in range(1000):
        probs, v = model(torch.from_numpy(state).float())
        m = Categorical(probs); a = m.sample()
        model.saved.append((m.log_prob(a), v))
        state, r, done, _ = env.step(a.item()); model.rewards.append(r)
        if done: break
    finish()
