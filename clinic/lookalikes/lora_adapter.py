import math

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r: int = 8, alpha: int = 16):
        super().__init__()
        self.base = base
        self.base.weight.requires_grad_(False)
        self.base.bias.requires_grad_(False)
        self.lora_A = nn.Parameter(torch.empty(r, base.in_features))
        self.lora_B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.lora_A, a=math.sqrt(5))
        self.scaling = alpha / r

    def forward(self, x):
        return self.base(x) + F.linear(F.linear(x, self.lora_A), self.lora_B) * self.scaling


class MLP(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(32, 128)
        self.fc2 = nn.Linear(128, 128)
        self.fc3 = nn.Linear(128, 5)

    def forward(self, x):
        return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))


base = MLP()
teacher = nn.Linear(32, 5)
X = torch.randn(3000, 32)
Y = teacher(X).argmax(1)
Xv, Yv = X[2500:], Y[2500:]

model = MLP()
model.load_state_dict(base.state_dict())
for name in ("fc1", "fc2", "fc3"):
    setattr(model, name, LoRALinear(getattr(model, name)))
trainable = [p for p in model.parameters() if p.requires_grad]
print(f"trainable: {sum(p.numel() for p in trainable)} of {sum(p.numel() for p in model.parameters())}")
optimizer = torch.optim.AdamW(trainable, lr=2e-3)

for epoch in range(10):
    for idx in torch.randperm(2500).split(64):
        loss = F.cross_entropy(model(X[idx]), Y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        logits = model(Xv)
    print({"epoch": epoch, "loss": round(loss.item(), 4), "eval_loss": round(F.cross_entropy(logits, Yv).item(), 4),
           "eval_accuracy": round((logits.argmax(1) == Yv).float().mean().item(), 4)})
