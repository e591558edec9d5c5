import random
from collections import deque

import torch
import torch.nn as nn
import torch.nn.functional as F

random.seed(0)
torch.manual_seed(0)
SIZE, GAMMA = 5, 0.95


def encode(s):
    v = torch.zeros(2 * SIZE)
    v[s[0]] = 1
    v[SIZE + s[1]] = 1
    return v


def step(s, a):
    dx, dy = [(0, 1), (0, -1), (1, 0), (-1, 0)][a]
    n = (min(max(s[0] + dx, 0), SIZE - 1), min(max(s[1] + dy, 0), SIZE - 1))
    if n == (SIZE - 1, SIZE - 1):
        return n, 10.0, True
    return n, -0.1, False


class QNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(2 * SIZE, 64)
        self.fc2 = nn.Linear(64, 4)

    def forward(self, x):
        return self.fc2(F.relu(self.fc1(x)))


q, target = QNet(), QNet()
target.load_state_dict(q.state_dict())
optimizer = torch.optim.Adam(q.parameters(), lr=1e-3)
memory = deque(maxlen=5000)
eps, updates = 1.0, 0
for episode in range(80):
    s, done, ret, t = (random.randrange(3), random.randrange(3)), False, 0.0, 0
    while not done and t < 40:
        if random.random() < eps:
            a = random.randrange(4)
        else:
            with torch.no_grad():
                a = int(q(encode(s)).argmax())
        n, r, done = step(s, a)
        memory.append((encode(s), a, r, encode(n), float(done)))
        s, ret, t = n, ret + r, t + 1
        if len(memory) >= 64:
            S, A, R, N, done_mask = zip(*random.sample(memory, 64), strict=True)
            S, N = torch.stack(S), torch.stack(N)
            A, R, done_mask = torch.tensor(A), torch.tensor(R), torch.tensor(done_mask)
            with torch.no_grad():
                y = R + GAMMA * (1 - done_mask) * target(N).max(1).values
            loss = F.smooth_l1_loss(q(S).gather(1, A[:, None]).squeeze(1), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            updates += 1
            if updates % 100 == 0:
                target.load_state_dict(q.state_dict())
    eps = max(0.05, eps * 0.95)
    if episode % 5 == 4:
        print(f"episode {episode + 1} updates {updates} eps {eps:.2f} return {ret:.2f} loss {loss.item():.4f}")
