import hashlib

import torch
from core import Core, batch
from torch import nn

from record import kept, record

torch.manual_seed(0)
torch.set_num_threads(1)
model = Core()
optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
for step in range(1, 21):
    x, y = batch()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    record(loss.item())
    if step % 5 == 0:
        print(f"step {step} loss {kept[-1]:.6f}")
digest = hashlib.sha256(b"".join(v.numpy().tobytes() for v in model.state_dict().values()))
print("RESULT", digest.hexdigest(), hashlib.sha256(torch.get_rng_state().numpy()).hexdigest()[:16])
