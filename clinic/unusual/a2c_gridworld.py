import numpy as np, torch
from torch import nn
from torch.distributions import Categorical
"""Advantage actor-critic, 16 parallel 6x6 grids with a wall; separate optimizers for actor and critic."""
SIZE, GOAL, SLIP, MAXT = 6, (5, 5), 0.1, 40
WALL = {(2, 1), (2, 2), (2, 3), (2, 4), (4, 3), (3, 3)}
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
FREE = [(i, j) for i in range(SIZE) for j in range(SIZE) if (i, j) not in WALL and (i, j) != GOAL]
GAMMA = .97
rng = np.random.default_rng(9); torch.manual_seed(9)

def move(s, a):
    n = (s[0] + MOVES[a][0], s[1] + MOVES[a][1])
    return s if (n in WALL or not (0 <= n[0] < SIZE and 0 <= n[1] < SIZE)) else n
def onehot(ss):
    z = torch.zeros(len(ss), SIZE * SIZE)
    z[torch.arange(len(ss)), torch.tensor([i * SIZE + j for i, j in ss])] = 1.
    return z

class Envs:
    def __init__(self, n): self.n = n; self.s = [self.new() for _ in range(n)]; self.t = [0] * n; self.ret = [0.] * n; self.done_returns = []
    def new(self): return FREE[rng.integers(len(FREE))]
    def step(self, acts):
        r, d = np.full(self.n, -.04), np.zeros(self.n)
        for k, a in enumerate(acts):
            if rng.random() < SLIP: a = rng.integers(4)
            self.s[k] = move(self.s[k], a); self.t[k] += 1
            if self.s[k] == GOAL: r[k] = 1.; d[k] = 1
            self.ret[k] += r[k]
            if d[k] or self.t[k] >= MAXT:
                d[k] = 1; self.done_returns.append(self.ret[k]); self.s[k] = self.new(); self.t[k] = 0; self.ret[k] = 0.
        return torch.tensor(r, dtype=torch.float32), torch.tensor(d, dtype=torch.float32)

def value_iteration():
    V = {s: 0. for s in FREE}; V[GOAL] = 0.
    def q(s, a): 
        n = move(s, a); return 1. if n == GOAL else -.04 + GAMMA * V[n]
    for _ in range(300):
        for s in FREE:
            qs = [q(s, a) for a in range(4)]; V[s] = max((1 - SLIP) * b + SLIP * np.mean(qs) for b in qs)
    return {s: int(np.argmax([q(s, a) for a in range(4)])) for s in FREE}, V

mlp = lambda o: nn.Sequential(nn.Linear(SIZE * SIZE, 64), nn.Tanh(), nn.Linear(64, o))
actor, critic = mlp(4), mlp(1)
oa, oc = torch.optim.Adam(actor.parameters(), lr=3e-3), torch.optim.Adam(critic.parameters(), lr=5e-3)
env, N, UPD = Envs(16), 8, 900
log = {"pi": [], "v": [], "H": []}
for u in range(1, UPD + 1):
    S, A, R, D = [], [], [], []
    for _ in range(N):
        x = onehot(env.s)
        with torch.no_grad(): a = Categorical(logits=actor(x)).sample()
        r, d = env.step(a.tolist()); S.append(x); A.append(a); R.append(r); D.append(d)
    with torch.no_grad():
        G = critic(onehot(env.s)).squeeze(1); tg = []
        for r, d in zip(reversed(R), reversed(D)):
            G = r + GAMMA * (1 - d) * G; tg.insert(0, G)
    S, A, G = torch.cat(S), torch.cat(A), torch.cat(tg)
    v = critic(S).squeeze(1); dist = Categorical(logits=actor(S))
    adv = G - v.detach()
    H = dist.entropy().mean()
    pl = -(dist.log_prob(A) * adv).mean() - .01 * H
    vl = (v - G).pow(2).mean()
    oa.zero_grad(); pl.backward(); nn.utils.clip_grad_norm_(actor.parameters(), .5); oa.step()
    oc.zero_grad(); vl.backward(); oc.step()
    log["pi"].append(pl.item()); log["v"].append(vl.item()); log["H"].append(H.item())
    if u % 75 == 0:
        m = {k: np.mean(z[-75:]) for k, z in log.items()}
        print(f"update {u:4d} return {np.mean(env.done_returns[-200:]):+.3f} policy_loss {m['pi']:+.4f} value_loss {m['v']:.4f} entropy {m['H']:.3f}")

pol, V = value_iteration()
def rollouts(choose, n=1500):
    e = Envs(50)
    while len(e.done_returns) < n: e.step(choose(e.s))
    return np.mean(e.done_returns)
with torch.no_grad():
    got = rollouts(lambda ss: actor(onehot(ss)).argmax(1).tolist())
    verr = np.mean([abs(critic(onehot([s])).item() - V[s]) for s in FREE])
print(f"greedy return {got:.3f} | optimal policy {rollouts(lambda ss: [pol[s] for s in ss]):.3f} | random {rollouts(lambda ss: rng.integers(0, 4, len(ss)).tolist()):.3f} | mean |V - V*| {verr:.3f}")
