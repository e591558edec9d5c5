# Which of 5 coupons do we show?  REINFORCE on a simulated shopper.
# The "loss" is a surrogate, look at the reward.
import torch
from torch import nn
from torch.distributions import Categorical

torch.manual_seed(77)
ARMS, CTX = 5, 6
world = torch.Generator().manual_seed(1001)
A = torch.randn(ARMS, CTX, generator=world) * 0.9
B = torch.randn(ARMS, CTX, generator=world) * 0.5


def buy_prob(c):
    return torch.sigmoid(c @ A.T + torch.cos(c) @ B.T - 0.3)


policy = nn.Sequential(nn.Linear(CTX, 64), nn.Tanh(), nn.Linear(64, ARMS))
value = nn.Sequential(nn.Linear(CTX, 32), nn.Tanh(), nn.Linear(32, 1))
opt_p = torch.optim.Adam(policy.parameters(), lr=4e-3)
opt_v = torch.optim.Adam(value.parameters(), lr=4e-3)
UPDATES = 1500
anneal = torch.optim.lr_scheduler.LinearLR(opt_p, 1.0, 0.05, total_iters=UPDATES)

c_eval = torch.randn(5000, CTX, generator=world)
p_eval = buy_prob(c_eval)
print(f"uniform policy {p_eval.mean():.4f}   always-best-arm {p_eval.mean(0).max():.4f}   clairvoyant {p_eval.max(1).values.mean():.4f}")

avg_r, avg_l = 0.0, 0.0
for u in range(1, UPDATES + 1):
    c = torch.randn(256, CTX)
    pi = Categorical(logits=policy(c))
    a = pi.sample()
    r = torch.bernoulli(buy_prob(c).gather(1, a[:, None]).squeeze(1))
    v = value(c).squeeze(1)
    adv = (r - v).detach()
    pg = -(pi.log_prob(a) * adv).mean()
    ent = pi.entropy().mean()
    loss = pg - 0.002 * ent
    opt_p.zero_grad(); loss.backward(); opt_p.step(); anneal.step()
    vloss = ((v - r) ** 2).mean()
    opt_v.zero_grad(); vloss.backward(); opt_v.step()
    avg_r += r.mean().item() / 100
    avg_l += pg.item() / 100
    if u % 100 == 0:
        with torch.no_grad():
            greedy = p_eval.gather(1, policy(c_eval).argmax(1, keepdim=True)).mean().item()
        print(f"upd {u:5d} | pg_loss {avg_l:+.4f} | v_loss {vloss.item():.4f} | reward {avg_r:.4f} | eval reward {greedy:.4f} | entropy {ent.item():.3f}")
        avg_r = avg_l = 0.0
