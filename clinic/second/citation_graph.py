import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
n, k, d = 300, 5, 20
label = torch.arange(n) % k
p = torch.where(label[:, None] == label[None, :], 0.08, 0.01)
A = (torch.rand(n, n) < p).float()
A = ((A + A.T + torch.eye(n)) > 0).float()
A = A / A.sum(1, keepdim=True)
X = F.one_hot(label, k).float() @ torch.randn(k, d) * 0.6 + torch.randn(n, d)
perm = torch.randperm(n)
train_idx, val_idx = perm[:150], perm[150:]


class GraphConv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)

    def forward(self, x, adj):
        return adj @ self.lin(x)


class GCN(nn.Module):
    def __init__(self):
        super().__init__()
        self.g1, self.g2 = GraphConv(d, 32), GraphConv(32, k)

    def forward(self, x, adj):
        return self.g2(F.relu(self.g1(x, adj)), adj)


model = GCN()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(1, 201):
    model.train()
    optimizer.zero_grad()
    out = model(X, A)
    loss = F.nll_loss(out[train_idx], label[train_idx])
    loss.backward()
    optimizer.step()
    if epoch % 10 == 0:
        model.eval()
        with torch.no_grad():
            out = model(X, A)
            acc = (out[val_idx].argmax(1) == label[val_idx]).float().mean()
            vl = F.nll_loss(out[val_idx], label[val_idx])
        print(f"Epoch: {epoch:03d}, Loss: {loss:.4f}, Val loss: {vl:.4f}, Val acc: {acc:.4f}")
