import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(16, 64), nn.SiLU(), nn.Linear(64, 16), nn.SiLU(), nn.Linear(16, 1)).to(
    torch.bfloat16
)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.1)
for step in range(1, 31):
    x = torch.randn(64, 16, dtype=torch.bfloat16)
    loss = nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
    loss.backward()
    norm = torch.linalg.vector_norm(
        torch.stack([torch.linalg.vector_norm(p.grad.float()) for p in model.parameters()])
    )
    optimizer.step()
    optimizer.zero_grad()
    if step % 5 == 0:
        print(f"step {step}: loss={loss.item():.6f} norm={norm.item():.6f}")
result(model, optimizer)
