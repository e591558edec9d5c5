import torch
from fingerprint import result

torch.manual_seed(10)
torch.set_num_threads(1)
N, D_in, H, D_out, bs = 300, 10, 24, 2, 30
X = torch.randn(N, D_in, dtype=torch.float64)
Y = torch.stack([X[:, 0].sin(), X[:, 1].cos()], 1)
torch.set_default_dtype(torch.float64)
net = torch.nn.Sequential(torch.nn.Linear(D_in, H), torch.nn.Softplus(), torch.nn.Linear(H, D_out))
opt = torch.optim.Adamax(net.parameters(), lr=1e-2)
lossfn = torch.nn.MSELoss(reduction="sum")
for e in range(4):
    perm = torch.randperm(N)
    tot = 0.0
    for b in range(0, N, bs):
        idx = perm[b : b + bs]
        opt.zero_grad()
        L = lossfn(net.forward(X[idx]), Y[idx])
        L.backward()
        opt.step()
        tot += L.item()
    print(f"epoch={e} loss={tot / (N // bs):.6f}")
result(net, opt)
