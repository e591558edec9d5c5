"""The scaler as the tutorial has it: no unscale_, no clipping; the optimizer unscales and skips by itself."""

import torch
from fingerprint import result

torch.manual_seed(6)
torch.set_num_threads(1)

net = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
opt = torch.optim.Adam(net.parameters(), lr=1e-2, fused=True)
scaler = torch.amp.GradScaler("cpu", init_scale=2.0**12, growth_interval=1000)
data = torch.randn(512, 8)
target = data.sum(1, keepdim=True)
done = 0

for epoch in range(2):
    for start in range(0, 512, 32):
        inputs, wanted = data[start : start + 32], target[start : start + 32]
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16):
            output = net(inputs)
            loss = torch.nn.functional.mse_loss(output.float(), wanted)
        scaler.scale(loss * 1e37 if start == 96 else loss).backward()
        scale = scaler.get_scale()
        norm = torch.cat([p.grad.flatten() for p in net.parameters()]).norm() / scale
        scaler.step(opt)
        scaler.update()
        opt.zero_grad()
        done += scaler.get_scale() == scale
        print(
            f"{done} {start // 32} loss={loss.item():.6f} norm={norm.item():.6f} scale={scale:g} next={scaler.get_scale():g}"
        )

result(net, opt, scaler.state_dict())
