"""Value network for small endgames, configuration in YAML."""
import torch
import torch.nn as nn

CONFIG = """
model: {inputs: 16, hidden: 64, init: 0.0}
train: {epochs: 10, batch: 50, lr: 0.01}
"""


def parse(text):
    out = {}
    for line in text.strip().splitlines():
        key, rest = line.split(":", 1)
        items = rest.strip(" {}").split(",")
        out[key] = {k.strip(): float(v) for k, v in (item.split(":") for item in items)}
    return out


cfg = parse(CONFIG)
torch.manual_seed(0)
n_in, n_hid = int(cfg["model"]["inputs"]), int(cfg["model"]["hidden"])


class ValueNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.l1 = nn.Linear(n_in, n_hid)
        self.l2 = nn.Linear(n_hid, n_hid)
        self.l3 = nn.Linear(n_hid, 1)
        for p in self.parameters():
            nn.init.constant_(p, cfg["model"]["init"])

    def forward(self, x):
        return torch.tanh(self.l3(torch.relu(self.l2(torch.relu(self.l1(x)))))).squeeze(1)


pieces = torch.randint(-1, 2, (3000, n_in)).float()
worth = torch.randn(n_in)
value = torch.tanh((pieces * worth).sum(1) / 2)
net = ValueNet()
opt = torch.optim.Adam(net.parameters(), lr=cfg["train"]["lr"])
for epoch in range(int(cfg["train"]["epochs"])):
    for b in torch.randperm(2500).split(int(cfg["train"]["batch"])):
        loss = nn.functional.mse_loss(net(pieces[b]), value[b])
        opt.zero_grad()
        loss.backward()
        opt.step()
    with torch.no_grad():
        v = nn.functional.mse_loss(net(pieces[2500:]), value[2500:])
    print(f"epoch {epoch} loss {loss.item():.5f} val_loss {v.item():.5f}")
