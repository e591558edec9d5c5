"""REINFORCE on a corridor: walk right to be paid."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result
from torch.distributions import Categorical

torch.manual_seed(543)
torch.set_num_threads(1)


class Corridor:
    def reset(self):
        self.place = 0
        return self.state()

    def state(self):
        return F.one_hot(torch.tensor(self.place), 6).float()

    def step(self, action):
        self.place = max(0, self.place + (1 if action == 1 else -1))
        done = self.place == 5
        return self.state(), 1.0 if done else -0.05, done


class Policy(nn.Module):
    def __init__(self):
        super().__init__()
        self.affine1 = nn.Linear(6, 32)
        self.dropout = nn.Dropout(p=0.1)
        self.affine2 = nn.Linear(32, 2)
        self.saved_log_probs = []
        self.rewards = []

    def forward(self, x):
        return F.softmax(self.affine2(F.relu(self.dropout(self.affine1(x)))), dim=-1)


policy = Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
env = Corridor()
running_reward = 0.0


def finish_episode():
    R, returns, policy_loss = 0, [], []
    for r in policy.rewards[::-1]:
        R = r + 0.99 * R
        returns.insert(0, R)
    returns = torch.tensor(returns)
    returns = (returns - returns.mean()) / (returns.std() + 1e-8)
    for log_prob, R in zip(policy.saved_log_probs, returns, strict=True):
        policy_loss.append(-log_prob * R)
    optimizer.zero_grad()
    policy_loss = torch.stack(policy_loss).sum()
    policy_loss.backward()
    optimizer.step()
    del policy.rewards[:]
    del policy.saved_log_probs[:]
    return policy_loss.item()


for i_episode in range(1, 16):
    state, ep_reward = env.reset(), 0.0
    for _ in range(40):
        m = Categorical(policy(state))
        action = m.sample()
        policy.saved_log_probs.append(m.log_prob(action))
        state, reward, done = env.step(action.item())
        policy.rewards.append(reward)
        ep_reward += reward
        if done:
            break
    running_reward = 0.05 * ep_reward + 0.95 * running_reward
    loss = finish_episode()
    print(
        f"Episode {i_episode}\tloss: {loss:.6f}\tLast reward: {ep_reward:.2f}\tAverage reward: {running_reward:.2f}"
    )
result(policy, optimizer)
