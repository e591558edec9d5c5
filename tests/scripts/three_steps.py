import torch
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
m = torch.nn.Linear(3, 1)
o = torch.optim.SGD(m.parameters(), lr=0.1)
for _ in range(3):
    x = torch.ones(2, 3)
    loss = (m(x) - 1).pow(2).mean()
    loss.backward()
    o.step()
    o.zero_grad()
    print(f"{loss.item():.6f}")
result(m, o)
