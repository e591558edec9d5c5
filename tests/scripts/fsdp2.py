"""torchrun --nproc-per-node 2 fsdp2.py"""

import torch
import torch.distributed as dist
import torch.nn as nn
from fingerprint import sha
from torch.distributed.fsdp import fully_shard

torch.set_num_threads(1)
dist.init_process_group("gloo")
rank = dist.get_rank()
torch.manual_seed(0)
model = nn.Sequential(nn.Linear(16, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 4))
for layer in model:
    if isinstance(layer, nn.Linear):
        fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
way = torch.randn(16, 4)
torch.manual_seed(100 + rank)
lines = []
for step in range(12):
    x = torch.randn(32, 16)
    loss = nn.functional.cross_entropy(model(x), (x @ way).argmax(1))
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    norm = norm.full_tensor() if hasattr(norm, "full_tensor") else norm
    optimizer.step()
    optimizer.zero_grad()
    lines.append(f"rank {rank} step {step + 1} loss {loss.item():.6f} norm {norm.item():.6f}")
with open(f"rank{rank}.txt", "w") as file:
    file.write("\n".join(lines) + "\n")
    state = {name: value.to_local() for name, value in model.state_dict().items()}
    file.write(f"RESULT {sha(state)} {sha(torch.get_rng_state())}\n")
dist.destroy_process_group()
