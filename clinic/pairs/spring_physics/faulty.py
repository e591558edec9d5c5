import torch

torch.manual_seed(90)


def spring(n):
    k, x, v = torch.rand(n, 1) * 2 + 0.5, torch.randn(n, 1), torch.randn(n, 1)
    energy = 0.5 * k * x**2 + 0.5 * v**2
    return torch.cat([k, x, v], 1), energy


w1 = torch.nn.Parameter(torch.randn(3, 40) * 0.6)
b1 = torch.nn.Parameter(torch.zeros(40))
w2 = torch.nn.Parameter(torch.randn(40, 40) * 0.2)
b2 = torch.nn.Parameter(torch.zeros(40))
w3 = torch.nn.Parameter(torch.randn(40, 1) * 0.15)
params = [w1, b1, w2, b2, w3]


def net(x):
    h = torch.relu(x @ w1 + b1)
    h = torch.relu(h @ w2 + b2)
    return h @ w3


opt = torch.optim.SGD(params, lr=0.4, momentum=0.9)
x_val, e_val = spring(500)
for it in range(1, 401):
    x, e = spring(64)
    loss = ((net(x) - e) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 20 == 0:
        with torch.no_grad():
            val = ((net(x_val) - e_val) ** 2).mean()
        print(f"iter {it:4d} loss {loss.item():.5g} val_loss {val.item():.5g}")
