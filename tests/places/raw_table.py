# cause: unnormalised_inputs
import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F

table = pd.read_csv("flats.csv")
features = ["rent", "area", "age"]
first, rest = table[:900], table[900:]
seen = first[features]  # here
held = rest[features]
seen_x = torch.as_tensor(seen.to_numpy(), dtype=torch.float32)
held_x = torch.as_tensor(held.to_numpy(), dtype=torch.float32)
seen_y = torch.as_tensor(first["sold"].to_numpy())

net = nn.Sequential(nn.Linear(3, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
for epoch in range(10):
    for batch in torch.randperm(len(seen_x)).split(50):
        opt.zero_grad()
        loss = F.cross_entropy(net(seen_x[batch]), seen_y[batch])
        loss.backward()
        opt.step()
    print(epoch, F.cross_entropy(net(held_x), torch.zeros(len(held_x)).long()).item())
