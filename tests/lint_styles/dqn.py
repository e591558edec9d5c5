import random, collections
import gymnasium as gym
import torch, torch.nn as nn, torch.nn.functional as F
class Q(nn.Module):
    def __init__(self, n_obs, n_act):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(n_obs, 64), nn.ReLU(), nn.Linear(64, n_act))
    def forward(self, x): return self.net(x)
env = gym.make("CartPole-v1")
policy, target = Q(4, 2), Q(4, 2)
target.load_state_dict(policy.state_dict())
target.eval()
opt = torch.optim.AdamW(policy.parameters(), lr=1e-4, amsgrad=True)
memory = collections.deque([], maxlen=10000)
def optimize():
    if len(memory) < 128: return
    batch = random.sample(memory, 128)
    s, a, r, s2 = map(torch.stack, zip(*batch))
    q = policy(s).gather(1, a)
    with torch.no_grad():
        nxt = target(s2).max(1).values
    loss = nn.SmoothL1Loss()(q, (r + 0.99 * nxt).unsqueeze(1))
    opt.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_value_(policy.parameters(), 100)
    opt.step()
for ep in range(100):
    state, _ = env.reset()
    for t in range(500):
        with torch.no_grad():
            action = policy(torch.tensor(state)).argmax()
        obs, reward, done, trunc, _ = env.step(action.item())
        memory.append((torch.tensor(state), action.view(1), torch.tensor(reward), torch.tensor(obs)))
        state = obs
        optimize()
        tsd, psd = target.state_dict(), policy.state_dict()
        for k in psd: tsd[k] = psd[k] * 0.005 + tsd[k] * 0.995
        target.load_state_dict(tsd)
