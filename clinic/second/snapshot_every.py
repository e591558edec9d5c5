import json
import os
import tempfile

import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
folder = tempfile.mkdtemp()
net = nn.Sequential(nn.Linear(20, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 4))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss()
x = torch.randn(3000, 20)
y = (x[:, :4] + 0.3 * x[:, 4:8]).argmax(1)
step = 0
log = open(os.path.join(folder, "weights.jsonl"), "w")
for epoch in range(4):
    for b in torch.randperm(3000).split(60):
        loss = ce(net(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        step += 1
        torch.save({"net": net.state_dict(), "opt": opt.state_dict(), "step": step}, os.path.join(folder, "last.pt"))
        log.write(json.dumps({n: p.flatten()[:3000].tolist() for n, p in net.named_parameters()}) + "\n")
        log.flush()
        if step % 25 == 0:
            print(f"step {step} loss {loss.item():.4f}")
