import copy, torch, torch.nn as nn, torch.nn.functional as F
class MLP(nn.Module):
    def __init__(self, i, h, o):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(i, h), nn.BatchNorm1d(h), nn.ReLU(inplace=True), nn.Linear(h, o))
    def forward(self, x): return self.net(x)
class BYOL(nn.Module):
    def __init__(self, backbone):
        super().__init__()
        self.online = nn.Sequential(backbone, MLP(32, 64, 16))
        self.target = copy.deepcopy(self.online)
        for p in self.target.parameters(): p.requires_grad = False
        self.predictor = MLP(16, 64, 16)
    def forward(self, a, b):
        pa = self.predictor(self.online(a))
        with torch.no_grad(): zb = self.target(b)
        return 2 - 2 * F.cosine_similarity(pa, zb.detach(), dim=-1).mean()
    @torch.no_grad()
    def update(self, tau=0.99):
        for o, t in zip(self.online.parameters(), self.target.parameters()):
            t.data = tau * t.data + (1 - tau) * o.data
class SimSiam(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 16)); self.h = nn.Linear(16, 16)
    def forward(self, x1, x2):
        z1, z2 = self.f(x1), self.f(x2)
        p1, p2 = self.h(z1), self.h(z2)
        return -(F.cosine_similarity(p1, z2.detach()).mean() + F.cosine_similarity(p2, z1.detach()).mean()) / 2
model = BYOL(nn.Sequential(nn.Linear(8, 32), nn.ReLU()))
opt = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-4)
ss = SimSiam(); opt2 = torch.optim.SGD(ss.parameters(), lr=0.05, momentum=0.9, weight_decay=1e-4)
for step in range(100):
    a, b = torch.randn(32, 8), torch.randn(32, 8)
    loss = model(a, b)
    opt.zero_grad(); loss.backward(); opt.step(); model.update()
    l2 = ss(a, b)
    opt2.zero_grad(); l2.backward(); opt2.step()
