import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(2)
counts = [1900, 60, 40]
xs, ys = [], []
for c, k in enumerate(counts):
    xs.append(torch.randn(k, 10) + 0.7 * torch.randn(10))
    ys.append(torch.full((k,), c))
X, Y = torch.cat(xs), torch.cat(ys)
loader = DataLoader(TensorDataset(X, Y), batch_size=40, shuffle=True)
clf = nn.Sequential(nn.Linear(10, 24), nn.ReLU(), nn.Linear(24, 3))
opt = torch.optim.Adam(clf.parameters(), lr=5e-4)
ce = nn.CrossEntropyLoss()
for ep in range(8):
    hits = 0
    for a, b in loader:
        logits = clf(a)
        loss = ce(logits, b)
        opt.zero_grad(set_to_none=True)
        loss.backward()
        opt.step()
        hits += (logits.argmax(-1) == b).sum().item()
    print(f"[{ep}] loss={loss.item():.3f} acc={hits / len(Y):.3f}")
