#!/usr/bin/env python
# coding: utf-8

# # River level from upstream stations

# In[1]:

import numpy as np
import pandas as pd
import torch
from torch import nn

rng = np.random.default_rng(2024)
torch.manual_seed(2024)


# In[2]:

n = 5000
rain = rng.gamma(1.2, 4.0, size=(n, 4))
snow = rng.uniform(0, 60, n)
temp = rng.normal(8, 7, n)
up1 = 120 + 4.0 * rain[:, 0] + 1.5 * rain[:, 1] + rng.normal(0, 6, n)
up2 = 90 + 3.0 * rain[:, 2] + 2.0 * rain[:, 3] + rng.normal(0, 6, n)
melt = snow * np.clip(temp, 0, None) / 20
level = 0.5 * up1 + 0.35 * up2 + 1.2 * melt + 0.04 * rain[:, 0] * rain[:, 2] + rng.normal(0, 4, n)

obs = pd.DataFrame(rain, columns=["rain_a", "rain_b", "rain_c", "rain_d"])
obs["snow"], obs["temp"], obs["up1"], obs["up2"], obs["level"] = snow, temp, up1, up2, level
pick = rng.choice(4000, size=40, replace=False)
obs.loc[pick, "level"] = -999.0


# In[3]:

archive, holdout = obs.iloc[:4000], obs.iloc[4000:]
archive = archive[archive["level"] > -900]
cols = ["rain_a", "rain_b", "rain_c", "rain_d", "snow", "temp", "up1", "up2"]
m, s = archive[cols].mean(), archive[cols].std()
lm, ls = holdout["level"].median(), 40.0

to_t = lambda a: torch.tensor(np.asarray(a), dtype=torch.float32)
Xa, Xh = to_t((archive[cols] - m) / s), to_t((holdout[cols] - m) / s)
ya, yh = to_t((archive["level"] - lm) / ls), to_t((holdout["level"] - lm) / ls)
print(Xa.shape, Xh.shape)


# In[4]:

model = nn.Sequential(nn.Linear(8, 64), nn.SiLU(), nn.Linear(64, 64), nn.SiLU(), nn.Linear(64, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
history = []


# In[5]:

for epoch in range(25):
    model.train()
    batch_losses = []
    for idx in torch.randperm(len(Xa)).split(50):
        out = model(Xa[idx]).squeeze(1)
        loss = ((out - ya[idx]) ** 2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        batch_losses.append(loss.item())
    model.eval()
    with torch.no_grad():
        res = model(Xh).squeeze(1) - yh
    val = (res ** 2).mean().item()
    r2 = 1 - val / yh.var(unbiased=False).item()
    history.append((np.mean(batch_losses), val))
    print("epoch", epoch, "train", round(float(np.mean(batch_losses)), 4), "max batch", round(max(batch_losses), 4),
          "val", round(val, 4), "R2", round(r2, 4))


# In[6]:

print("best val", min(h[1] for h in history))
