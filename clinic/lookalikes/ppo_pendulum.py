"""PPO on a one-dimensional point mass; policy loss hovers about zero, the value loss wanders with the returns."""
import torch
import torch.nn as nn

torch.manual_seed(0)
N_ENV, HORIZON, GAMMA, LAM = 32, 32, 0.97, 0.95


class PointMass:
    def __init__(self, n):
        self.n = n
        self.reset()

    def reset(self):
        self.pos, self.vel = torch.rand(self.n) * 2 - 1, torch.zeros(self.n)
        return self.obs()

    def obs(self):
        return torch.stack([self.pos, self.vel], 1)

    def step(self, force):
        self.vel = 0.9 * self.vel + 0.1 * force.clamp(-1, 1)
        self.pos = self.pos + 0.3 * self.vel
        return self.obs(), -(self.pos.abs() + 0.05 * force.abs()).clamp(max=3)


class ActorCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.v = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.log_std = nn.Parameter(torch.zeros(1) - 0.3)

    def dist(self, o):
        return torch.distributions.Normal(self.pi(o).squeeze(-1), self.log_std.exp())


env, ac = PointMass(N_ENV), ActorCritic()
opt = torch.optim.Adam(ac.parameters(), lr=2e-3)
for it in range(40):
    o = env.reset()
    obs, act, logp, rew, val = [], [], [], [], []
    with torch.no_grad():
        for _ in range(HORIZON):
            d = ac.dist(o)
            a = d.sample()
            obs.append(o)
            act.append(a)
            logp.append(d.log_prob(a))
            val.append(ac.v(o).squeeze(-1))
            o, r = env.step(a)
            rew.append(r)
        val.append(ac.v(o).squeeze(-1))
    adv, gae = [], torch.zeros(N_ENV)
    for t in reversed(range(HORIZON)):
        gae = rew[t] + GAMMA * val[t + 1] - val[t] + GAMMA * LAM * gae
        adv.insert(0, gae)
    adv = torch.cat(adv)
    ret = adv + torch.cat(val[:-1])
    obs, act, logp = torch.cat(obs), torch.cat(act), torch.cat(logp)
    adv = (adv - adv.mean()) / adv.std()
    for _ in range(4):
        for b in torch.randperm(len(obs)).split(256):
            d = ac.dist(obs[b])
            ratio = (d.log_prob(act[b]) - logp[b]).exp()
            pg = -torch.min(ratio * adv[b], ratio.clamp(0.8, 1.2) * adv[b]).mean()
            vf = (ac.v(obs[b]).squeeze(-1) - ret[b]).pow(2).mean()
            loss = pg + 0.5 * vf - 0.001 * d.entropy().mean()
            opt.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(ac.parameters(), 0.5)
            opt.step()
    print(f"iteration {it} reward {torch.stack(rew).sum(0).mean():.3f} policy_loss {pg.item():.4f} value_loss {vf.item():.4f}")
