import torch
from torch import nn

torch.manual_seed(0)


class TwoTower(nn.Module):
    def __init__(self, n_users=120, n_items=80, dim=8):
        super().__init__()
        self.users = nn.Embedding(n_users, dim)
        self.items = nn.Embedding(n_items, dim)
        nn.init.normal_(self.users.weight, std=0.1)
        nn.init.normal_(self.items.weight, std=0.1)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, 64), nn.ReLU(), nn.Linear(64, 1))

    def forward(self, u, i):
        a, b = self.users(u), self.items(i)
        return 3.5 + (a * b).sum(1) + self.mlp(torch.cat([a, b], 1)).squeeze(1)


taste, quality = torch.randn(120, 2), torch.randn(80, 2)
u, i = torch.randint(0, 120, (12000,)), torch.randint(0, 80, (12000,))
rating = (3.5 + 0.6 * (taste[u] * quality[i]).sum(1) + 0.2 * torch.randn(12000)).clamp(1, 5)

model = TwoTower()
embedding_opt = torch.optim.Adagrad(list(model.users.parameters()) + list(model.items.parameters()), lr=0.1)
dense_opt = torch.optim.Adam(model.mlp.parameters(), lr=2e-3)
for epoch in range(6):
    model.train()
    for b in torch.randperm(10000).split(128):
        loss = nn.functional.mse_loss(model(u[b], i[b]), rating[b])
        embedding_opt.zero_grad()
        dense_opt.zero_grad()
        loss.backward()
        embedding_opt.step()
        dense_opt.step()
    model.eval()
    with torch.no_grad():
        v = nn.functional.mse_loss(model(u[10000:], i[10000:]), rating[10000:])
    print(f"epoch {epoch + 1} train mse {loss.item():.4f} val mse {v.item():.4f}")
