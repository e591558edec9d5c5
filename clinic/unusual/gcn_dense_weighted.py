import numpy as np
import torch
import torch.nn.functional as F

# Node classification, stochastic block model, imbalanced (70/20/10), weighted cross-entropy.
def build(seed=0, n=1200):
    r = np.random.RandomState(seed)
    y = r.choice(3, n, p=[.7, .2, .1])
    B = np.full((3, 3), .008) + np.diag([.012, .03, .045])
    A = (r.rand(n, n) < B[y][:, y]).astype(np.float32); A = np.triu(A, 1); A = A + A.T
    mu = r.randn(3, 5) * .9
    X = (mu[y] + r.randn(n, 5)).astype(np.float32)
    return A, X, y, B, mu

def oracle_pred(A, X, y, B, mu):
    """true parameters AND true labels of all other nodes: an upper bound"""
    pri = np.log([.7, .2, .1]); out = []
    Y = np.eye(3)[y]; links = A @ Y; non = Y.sum(0) - links
    ll = links @ np.log(B).T + non @ np.log(1 - B).T
    lx = -.5 * ((X[:, None] - mu[None]) ** 2).sum(-1)
    w = 1 / np.array([.7, .2, .1])
    return (pri + ll + lx + np.log(w)).argmax(1)

def bal_acc(p, y):
    return float(np.mean([(p[y == c] == c).mean() for c in range(3)]))

class GCN(torch.nn.Module):
    def __init__(self, A, d, h, k):
        super().__init__()
        n = len(A); At = A + torch.eye(n); dg = At.sum(1).rsqrt()
        self.register_buffer("S", dg[:, None] * At * dg[None])
        self.w0, self.s0 = torch.nn.Linear(d, h), torch.nn.Linear(d, h, bias=False)
        self.w1, self.s1 = torch.nn.Linear(h, k), torch.nn.Linear(h, k, bias=False)
    def forward(self, x):
        h = F.relu(self.w0(self.S @ x) + self.s0(x))
        h = F.dropout(h, .3, self.training)
        return self.S @ self.w1(h) + self.s1(h)

if __name__ == "__main__":
    torch.manual_seed(0)
    A, X, y, B, mu = build()
    perm = np.random.RandomState(1).permutation(len(y)); tr, va, te = perm[:700], perm[700:950], perm[950:]
    Xt = torch.tensor((X - X[tr].mean(0)) / X[tr].std(0)); yt = torch.tensor(y)
    cnt = np.bincount(y[tr], minlength=3); cw = torch.tensor(len(tr) / (3 * cnt), dtype=torch.float32)
    print("class counts", cnt, "weights", cw.numpy().round(3))
    m = GCN(torch.tensor(A), 5, 8, 3)
    opt = torch.optim.Adam(m.parameters(), lr=1e-2, weight_decay=3e-3)
    for ep in range(1, 301):
        m.train(); opt.zero_grad()
        loss = F.cross_entropy(m(Xt)[tr], yt[tr], weight=cw); loss.backward(); opt.step()
        if ep % 25 == 0:
            m.eval()
            with torch.no_grad(): o = m(Xt)
            p = o.argmax(1).numpy()
            print("epoch %3d  loss %.4f  val_loss %.4f  train_bacc %.3f  val_bacc %.3f" % (
                ep, loss.item(), F.cross_entropy(o[va], yt[va], weight=cw).item(), bal_acc(p[tr], y[tr]), bal_acc(p[va], y[va])))
    q = oracle_pred(A, X, y, B, mu)
    print("test bacc %.3f | oracle (true params, all labels) %.3f (all nodes %.3f) | majority .333" % (bal_acc(p[te], y[te]), bal_acc(q[te], y[te]), bal_acc(q, y)))
