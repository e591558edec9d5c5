"""Graph convolution with a sparse adjacency matrix, full batch."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from fingerprint import result

torch.manual_seed(42)
torch.set_num_threads(1)


class GraphConv(nn.Module):
    def __init__(self, inputs, outputs):
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        nn.init.xavier_uniform_(self.weight)

    def forward(self, x, adj):
        return torch.sparse.mm(adj, x @ self.weight) + self.bias


class GCN(nn.Module):
    def __init__(self, nfeat, nhid, nclass):
        super().__init__()
        self.gc1, self.gc2 = GraphConv(nfeat, nhid), GraphConv(nhid, nclass)

    def forward(self, x, adj):
        x = F.dropout(F.relu(self.gc1(x, adj)), 0.5, training=self.training)
        return F.log_softmax(self.gc2(x, adj), dim=1)


n = 120
labels = torch.arange(n) % 3
same = (labels[:, None] == labels[None]).float()
adj = (torch.rand(n, n) < 0.02 + 0.08 * same).float() + torch.eye(n)
adj = (adj / adj.sum(1, keepdim=True)).to_sparse_coo()
features = F.one_hot(labels, 3).float() + torch.randn(n, 3)
idx_train, idx_val = torch.arange(0, 60), torch.arange(60, 90)
model = GCN(3, 16, 3)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01, weight_decay=5e-4)
for epoch in range(30):
    model.train()
    optimizer.zero_grad()
    output = model(features, adj)
    loss_train = F.nll_loss(output[idx_train], labels[idx_train])
    loss_train.backward()
    optimizer.step()
    model.eval()
    output = model(features, adj)
    loss_val = F.nll_loss(output[idx_val], labels[idx_val])
    acc_val = (output[idx_val].argmax(1) == labels[idx_val]).float().mean()
    print(
        f"Epoch: {epoch + 1:04d} loss_train: {loss_train.item():.6f} loss_val: {loss_val.item():.6f} "
        f"acc_val: {acc_val.item():.4f}"
    )
result(model, optimizer)
