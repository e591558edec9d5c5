import torch
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)


class SGD:
    def __init__(self, params, lr):
        self.params, self.lr = list(params), lr

    def step(self):
        for p in self.params:
            p.data -= self.lr * p.grad

    def zero_grad(self):
        for p in self.params:
            p.grad = None


w1 = torch.randn(4, 16, requires_grad=True)
b1 = torch.zeros(16, requires_grad=True)
w2 = torch.randn(16, 1, requires_grad=True)
opt = SGD([w1, b1, w2], lr=1e-3)
for t in range(40):
    x = torch.randn(32, 4)
    y = x[:, :1] * x[:, 1:2]
    y_pred = (x.mm(w1) + b1).clamp(min=0).mm(w2)
    loss = (y_pred - y).pow(2).mean()
    loss.backward()
    opt.step()
    opt.zero_grad()
    if t % 10 == 9:
        print(t, loss.item())
result([w1, b1, w2])
