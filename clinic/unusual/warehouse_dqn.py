# DQN on a 6x6 slippery warehouse floor.  gamma 0.95, all rewards >= 0, so Q climbs for a long time and the TD loss climbs with it.
import copy
import random
import numpy as np
import torch
import torch.nn as nn

random.seed(17); np.random.seed(17); torch.manual_seed(17)
SIZE, GAMMA, SLIP = 6, 0.95, 0.2
MOVES = [(-1, 0), (1, 0), (0, -1), (0, 1)]
REWARD = np.zeros((SIZE, SIZE)); REWARD[5, 5] = 1.0; REWARD[0, 5] = 0.4; REWARD[2, 2] = 0.2


def walk(s, a):
    r, c = divmod(s, SIZE)
    return min(max(r + MOVES[a][0], 0), SIZE - 1) * SIZE + min(max(c + MOVES[a][1], 0), SIZE - 1)


def env_step(s, a):
    s2 = walk(s, np.random.randint(4) if np.random.rand() < SLIP else a)
    return s2, REWARD.flat[s2]


def features(s):
    s = torch.as_tensor(s)
    return torch.cat([nn.functional.one_hot(s // SIZE, SIZE), nn.functional.one_hot(s % SIZE, SIZE)], -1).float()


class Buffer:
    def __init__(self, cap):
        self.cap, self.data = cap, []

    def add(self, tr):
        if len(self.data) >= self.cap:
            self.data.pop(0)
        self.data.append(tr)

    def sample(self, n):
        s, a, r, s2 = zip(*random.sample(self.data, n))
        return torch.tensor(s), torch.tensor(a), torch.tensor(r, dtype=torch.float32), torch.tensor(s2)


def optimal_q():
    q = np.zeros((SIZE * SIZE, 4))
    for _ in range(2000):
        v = q.max(1)
        base = np.array([[REWARD.flat[walk(s, a)] + GAMMA * v[walk(s, a)] for a in range(4)] for s in range(SIZE * SIZE)])
        q = (1 - SLIP) * base + SLIP * base.mean(1, keepdims=True)
    return q


def rollout_value(net, n=40, horizon=150):
    tot = 0.0
    with torch.no_grad():
        greedy = net(features(np.arange(SIZE * SIZE))).argmax(1).numpy()
    for _ in range(n):
        s, g = np.random.randint(SIZE * SIZE), 1.0
        for _ in range(horizon):
            s, r = env_step(s, greedy[s])
            tot += g * r; g *= GAMMA
    return tot / n


if __name__ == "__main__":
    q = nn.Sequential(nn.Linear(2 * SIZE, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
    target = copy.deepcopy(q).requires_grad_(False)
    opt = torch.optim.Adam(q.parameters(), lr=1e-3)
    buf, s = Buffer(20000), 0
    UPD = 3000
    losses = []
    for u in range(1, UPD + 1):
        eps = max(0.3, 1 - u / 1500)
        for _ in range(4):
            if random.random() < 0.02:
                s = random.randrange(SIZE * SIZE)
            with torch.no_grad():
                a = random.randrange(4) if random.random() < eps else int(q(features(s)).argmax())
            s2, r = env_step(s, a)
            buf.add((s, a, r, s2)); s = s2
        if len(buf.data) < 256:
            continue
        bs, ba, br, bn = buf.sample(128)
        with torch.no_grad():
            nxt = target(features(bn)).gather(1, q(features(bn)).argmax(1, keepdim=True)).squeeze(1)   # double DQN
            y = br + GAMMA * nxt
        pred = q(features(bs)).gather(1, ba[:, None]).squeeze(1)
        loss = nn.functional.mse_loss(pred, y)
        opt.zero_grad(); loss.backward(); opt.step()
        with torch.no_grad():
            for p, pt in zip(q.parameters(), target.parameters()):
                pt.lerp_(p, 0.04)
        losses.append(loss.item())
        if u % 200 == 0:
            print(f"upd {u:5d}  td_loss {np.mean(losses[-200:]):.4f}  mean_q {pred.mean().item():6.2f}  eps {eps:.2f}  greedy_return {rollout_value(q):6.2f}")
    star = optimal_q()
    with torch.no_grad():
        qa = q(features(np.arange(SIZE * SIZE))).numpy()
    print(f"mean V learned {qa.max(1).mean():.2f}   mean V* {star.max(1).mean():.2f}")
