import torch
import torch.nn as nn

torch.manual_seed(0)
accum = 8
frames = torch.randn(4000, 20)
phones = (frames[:, :10] @ torch.randn(10, 5) + 0.5 * frames[:, 10:15]).argmax(1)
net = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 5))
opt = torch.optim.Adam(net.parameters(), lr=1e-3)
ce = nn.CrossEntropyLoss()
for epoch in range(8):
    for i, idx in enumerate(torch.randperm(3200).split(16)):
        opt.zero_grad()
        loss = ce(net(frames[idx]), phones[idx]) / accum
        loss.backward()
        if (i + 1) % accum == 0:
            opt.step()
    with torch.no_grad():
        out = net(frames[3200:])
    print(f"epoch {epoch + 1} loss {loss.item() * accum:.4f} val_loss {ce(out, phones[3200:]).item():.4f} acc {(out.argmax(1) == phones[3200:]).float().mean():.3f}")
