"""The user watches too: forward hooks, backward hooks, tensor hooks, anomaly detection."""

import torch
import torch.nn as nn
from fingerprint import result

torch.manual_seed(0)
torch.set_num_threads(1)
torch.autograd.set_detect_anomaly(True)

model = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 2))
seen = {"forward": 0, "pre": 0, "backward": 0, "tensor": 0, "step": 0, "state": 0}
order = []


def count(name):
    def hook(*_):
        seen[name] += 1

    return hook


def scale_grad(grad):
    seen["tensor"] += 1
    return grad * 0.5


def change_output(module, args, output):
    order.append(type(module).__name__)
    return output + 0.01


for layer in model:
    layer.register_forward_hook(count("forward"))
    layer.register_forward_pre_hook(count("pre"))
    layer.register_full_backward_hook(count("backward"))
model[0].register_forward_hook(change_output)
model[2].weight.register_hook(scale_grad)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
optimizer.register_step_post_hook(count("step"))
optimizer.register_state_dict_post_hook(count("state"))
nn.modules.module.register_module_forward_hook(count("forward"))

for step in range(1, 13):
    x = torch.randn(32, 6)
    y = (x.sum(1) > 0).long()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    norm = torch.cat([p.grad.flatten() for p in model.parameters()]).norm()
    optimizer.step()
    if step % 3 == 0:
        print(f"step {step} loss {loss.item():.6f} norm {norm.item():.6f} {seen}")
print("hooks", [len(layer._forward_hooks) for layer in model], len(order))
result(model, optimizer)
