"""Node classification on one graph: every step sees the whole graph, a tenth of the labels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
n, k = 400, 4
label = torch.randint(0, k, (n,))
same = label[:, None] == label[None, :]
adj = (torch.rand(n, n) < torch.where(same, 0.06, 0.008)).float()
adj = ((adj + adj.T) > 0).float()
adj.fill_diagonal_(1)
deg = adj.sum(1)
adj = adj / (deg[:, None] * deg[None, :]).sqrt()
features = F.one_hot(label, k).float() * 0.4 + 0.5 * torch.randn(n, k)
features = torch.cat([features, torch.randn(n, 12)], 1)
train_mask = torch.zeros(n, dtype=torch.bool)
train_mask[torch.randperm(n)[:60]] = True
val_mask = ~train_mask


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass, dropout):
        super().__init__()
        self.gc1 = nn.Linear(nfeat, nhid)
        self.gc2 = nn.Linear(nhid, nclass)
        self.dropout = dropout

    def forward(self, x, adj):
        x = F.relu(adj @ self.gc1(x))
        x = F.dropout(x, self.dropout, training=self.training)
        return F.log_softmax(adj @ self.gc2(x), dim=1)


model = GCN(16, 16, k, 0.5)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-3)
for epoch in range(200):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[train_mask], label[train_mask])
    loss_train.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        output = model(features, adj)
        loss_val = F.nll_loss(output[val_mask], label[val_mask])
        acc_val = (output[val_mask].argmax(1) == label[val_mask]).float().mean()
    if epoch % 10 == 9:
        print(f"Epoch: {epoch + 1:04d} loss_train: {loss_train.item():.4f} loss_val: {loss_val.item():.4f} acc_val: {acc_val.item():.4f}")
