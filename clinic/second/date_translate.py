"""A post-norm transformer as in the paper, six layers, on sorting digits."""
import torch
import torch.nn as nn

torch.manual_seed(0)
torch.set_num_threads(1)
V, L, D = 12, 10, 64


class Sorter(nn.Module):
    def __init__(self, depth=8):
        super().__init__()
        self.tok = nn.Embedding(V, D)
        self.pos = nn.Parameter(torch.randn(1, L, D) * 0.1)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(D, 4, 128, dropout=0.0, batch_first=True, norm_first=False) for _ in range(depth)]
        )
        self.out = nn.Linear(D, V)

    def forward(self, x):
        h = self.tok(x) + self.pos
        for layer in self.layers:
            h = layer(h)
        return self.out(h)


def batch(n=48):
    x = torch.randint(0, V, (n, L))
    return x, x.sort(1).values


model = Sorter()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-2, betas=(0.9, 0.98), eps=1e-9)
ce = nn.CrossEntropyLoss()
xv, yv = batch(200)
for step in range(1, 221):
    x, y = batch()
    loss = ce(model(x).flatten(0, 1), y.flatten())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 20 == 0:
        with torch.no_grad():
            v = ce(model(xv).flatten(0, 1), yv.flatten()).item()
        print(f"step {step} loss {loss.item():.4f} val_loss {v:.4f} lr {optimizer.param_groups[0]['lr']:.4f}")
