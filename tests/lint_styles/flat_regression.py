import torch as T, numpy as np
import torch.nn as nn
rng = np.random.default_rng(0)
N = 500
X = rng.normal(size=(N, 5)).astype("float32")
w = rng.normal(size=(5, 1)).astype("float32")
Y = X @ w + 0.1 * rng.normal(size=(N, 1)).astype("float32")
perm = rng.permutation(N)
X, Y = X[perm], Y[perm]
n_train = 400
Xt, Yt = T.from_numpy(X[:n_train]), T.from_numpy(Y[:n_train])
Xv, Yv = T.from_numpy(X[n_train:]), T.from_numpy(Y[n_train:])
net = nn.Sequential(nn.Linear(5, 32), nn.Tanh(), nn.Dropout(0.1), nn.Linear(32, 1))
opt = T.optim.Adam(net.parameters(), 1e-2)
loss_fn = nn.MSELoss()
history = []
for epoch in range(20):
    net.train()
    order = T.randperm(n_train)
    for i in range(0, n_train, 50):
        idx = order[i:i + 50]
        pred = net(Xt[idx])
        loss = loss_fn(pred, Yt[idx])
        opt.zero_grad()
        loss.backward()
        opt.step()
        history.append(loss.item())
    net.eval()
    with T.no_grad():
        v = loss_fn(net(Xv), Yv).item()
    print(epoch, v)
