import torch
import torch.nn as nn

torch.manual_seed(2)
rot = torch.linalg.qr(torch.randn(16, 16)).Q
x = torch.randn(2600, 16)
y = torch.relu(x @ rot)[:, :4].sum(1, keepdim=True) + 0.1 * torch.randn(2600, 1)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 1))
opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
sched = torch.optim.lr_scheduler.MultiStepLR(opt, milestones=[20, 30], gamma=0.1)
for epoch in range(40):
    tot = 0.0
    for b in torch.randperm(2000).split(20):
        loss = nn.functional.mse_loss(model(x[b]), y[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
        tot += loss.item() / 100
    sched.step()
    with torch.no_grad():
        v = nn.functional.mse_loss(model(x[2000:]), y[2000:]).item()
    print(f"epoch {epoch + 1} lr {sched.get_last_lr()[0]:.4g} loss {tot:.5f} val_loss {v:.5f}")
