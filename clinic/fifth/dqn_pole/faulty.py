import math
import random
from collections import deque

import numpy as np
import torch
import torch.nn as nn

SEED = 3
random.seed(SEED); np.random.seed(SEED); torch.manual_seed(SEED)


class Pole:
    """Classic cart-pole dynamics."""
    def reset(self):
        self.s = np.random.uniform(-.05, .05, 4)
        self.t = 0
        return self.s.astype(np.float32)

    def step(self, a):
        x, v, th, w = self.s
        f = 10. if a == 1 else -10.
        c, s = math.cos(th), math.sin(th)
        tmp = (f + .05 * w * w * s) / 1.1
        acc_th = (9.8 * s - c * tmp) / (.5 * (4 / 3 - .1 * c * c / 1.1))
        acc_x = tmp - .05 * acc_th * c / 1.1
        self.s = np.array([x + .02 * v, v + .02 * acc_x, th + .02 * w, w + .02 * acc_th])
        self.t += 1
        fell = abs(self.s[0]) > 2.4 or abs(self.s[2]) > .2095
        return self.s.astype(np.float32), 1.0, fell, self.t >= 200


qnet = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
target = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
target.load_state_dict(qnet.state_dict())
opt = torch.optim.Adam(qnet.parameters(), lr=5e-4)
buf = deque(maxlen=20000)
gamma, batch_size = 0.98, 64
env = Pole()
TOTAL = 12000

obs, ret, history, losses = env.reset(), 0, [], []
for step in range(TOTAL):
    eps = max(0.05, 1 - step / 5000)
    if random.random() < eps:
        act = random.randrange(2)
    else:
        with torch.no_grad():
            act = qnet(torch.from_numpy(obs)).argmax().item()
    nxt, r, done, trunc = env.step(act)
    buf.append((obs, act, r, nxt, done))
    obs = nxt
    ret += r
    if done or trunc:
        history.append(ret)
        obs, ret = env.reset(), 0
    if step > 500:
        s, a, rew, s2, d = zip(*random.sample(buf, batch_size))
        s, s2 = torch.from_numpy(np.stack(s)), torch.from_numpy(np.stack(s2))
        a, rew, d = torch.tensor(a), torch.tensor(rew), torch.tensor(d, dtype=torch.float32)
        with torch.no_grad():
            y = rew + gamma * target(s2).max(1).values
        q = qnet(s).gather(1, a[:, None]).squeeze(1)
        loss = nn.functional.smooth_l1_loss(q, y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(qnet.parameters(), 10.)
        opt.step()
        losses.append(loss.item())
        if step % 400 == 0:
            target.load_state_dict(qnet.state_dict())
    if step % 1000 == 999:
        print(f'step={step + 1} eps={eps:.2f} loss={np.mean(losses[-500:]):.4f} return={np.mean(history[-20:]):.1f} episodes={len(history)}')

scores = []
for _ in range(20):
    obs, total = env.reset(), 0
    while True:
        with torch.no_grad():
            obs, r, done, trunc = env.step(qnet(torch.from_numpy(obs)).argmax().item())
        total += r
        if done or trunc:
            break
    scores.append(total)
print('greedy return over 20 episodes:', np.mean(scores))
