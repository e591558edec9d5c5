import torch
from torch import nn

torch.manual_seed(5)
data = torch.rand(600, 10) * 200  # sensor readings, raw units
target = (data[:, :5].mean(1) > data[:, 5:].mean(1)).float().unsqueeze(1)

model = nn.Sequential(nn.Linear(10, 40), nn.Tanh(), nn.Linear(40, 40), nn.Tanh(), nn.Linear(40, 1))
for m in model:
    if isinstance(m, nn.Linear):
        nn.init.normal_(m.weight, 0, 1.0)
optim = torch.optim.SGD(model.parameters(), lr=1e-3)
lossf = nn.BCEWithLogitsLoss()
for it in range(300):
    idx = torch.randint(0, 600, (64,))
    out = model(data[idx])
    loss = lossf(out, target[idx])
    optim.zero_grad()
    loss.backward()
    optim.step()
    if it % 25 == 0:
        print(f"iter {it:4d} loss {loss:.4f}")
