"""Image denoising with the sum of squared errors, as in the old Matlab code."""
import torch
import torch.nn as nn

torch.manual_seed(2)
torch.set_num_threads(1)


def waves(n, size=24):
    yy, xx = torch.meshgrid(torch.linspace(0, 6, size), torch.linspace(0, 6, size), indexing="ij")
    f = 0.5 + torch.rand(n, 2, 1, 1) * 2
    phase = torch.rand(n, 1, 1) * 6.28
    return torch.sin(f[:, 0] * xx + f[:, 1] * yy + phase).unsqueeze(1)


net = nn.Sequential(
    nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.Conv2d(16, 16, 3, padding=1), nn.ReLU(), nn.Conv2d(16, 1, 3, padding=1)
)
sse = nn.MSELoss(reduction="sum")
optimizer = torch.optim.SGD(net.parameters(), lr=2e-6, momentum=0.9)
clean_val = waves(64)
noisy_val = clean_val + 0.5 * torch.randn_like(clean_val)
for it in range(400):
    clean = waves(32)
    noisy = clean + 0.5 * torch.randn_like(clean)
    optimizer.zero_grad()
    loss = sse(net(noisy), clean)
    loss.backward()
    optimizer.step()
    if it % 40 == 39:
        with torch.no_grad():
            print("iter", it + 1, "loss", round(loss.item(), 1), "val_loss", round(sse(net(noisy_val), clean_val).item(), 1))
