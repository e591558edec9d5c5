"""REINFORCE on a small stochastic corridor with a running baseline."""
import numpy as np
import torch
import torch.nn as nn
from torch.distributions import Categorical


class Corridor:
    def __init__(self, length=8, seed=0):
        self.length, self.rng = length, np.random.default_rng(seed)

    def reset(self):
        self.pos, self.t = int(self.rng.integers(2, self.length - 2)), 0
        self.goal = int(self.rng.integers(0, 2)) * (self.length - 1)
        return self.obs()

    def obs(self):
        o = np.zeros(self.length + 2, dtype=np.float32)
        o[self.pos] = 1
        o[self.length + (self.goal > 0)] = 1
        return o

    def step(self, action):
        move = 1 if action == 1 else -1
        if self.rng.random() < 0.1:
            move = -move
        self.pos = min(max(self.pos + move, 0), self.length - 1)
        self.t += 1
        done = self.pos == self.goal or self.t >= 25
        return self.obs(), (1.0 if self.pos == self.goal else -0.05), done


class Policy(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, 32), nn.Tanh(), nn.Linear(32, n_act))

    def forward(self, x):
        return Categorical(logits=self.net(x))


def main(episodes=400, gamma=0.97):
    torch.manual_seed(1)
    env, policy = Corridor(), Policy(10, 2)
    optimizer = torch.optim.Adam(policy.parameters(), lr=5e-3)
    baseline = 0.0
    history = []
    for episode in range(episodes):
        obs, done, log_probs, rewards = env.reset(), False, [], []
        while not done:
            dist = policy(torch.from_numpy(obs))
            action = dist.sample()
            log_probs.append(dist.log_prob(action))
            obs, reward, done = env.step(action.item())
            rewards.append(reward)
        returns, ret = [], 0.0
        for r in reversed(rewards):
            ret = r + gamma * ret
            returns.insert(0, ret)
        returns = torch.tensor(returns)
        loss = -(torch.stack(log_probs) * (returns - baseline)).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        baseline = 0.95 * baseline + 0.05 * returns.mean().item()
        history.append(sum(rewards))
        if (episode + 1) % 20 == 0:
            print(f"episode {episode + 1} loss {loss.item():.3f} reward {np.mean(history[-20:]):.3f}")


if __name__ == "__main__":
    main()
