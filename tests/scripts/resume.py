"""python resume.py trains half way and saves; python resume.py --resume last.ckpt does the rest."""

import argparse
import os

import torch
import torch.nn as nn
from fingerprint import result

parser = argparse.ArgumentParser()
parser.add_argument("--resume", metavar="PATH")
parser.add_argument("--until", type=int, default=10)
args = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: 0.95**step)
start = 0
if args.resume and os.path.isfile(args.resume):
    checkpoint = torch.load(args.resume)
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    scheduler.load_state_dict(checkpoint["scheduler"])
    torch.set_rng_state(checkpoint["rng"])
    start = checkpoint["step"]
    print(f"=> loaded checkpoint '{args.resume}' (step {start})")
for step in range(start + 1, args.until + 1):
    x = torch.randn(32, 8)
    loss = nn.functional.mse_loss(model(x), x.mean(1, keepdim=True))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    lr = scheduler.get_last_lr()[0]
    scheduler.step()
    print(f"step {step} loss {loss.item():.6f} lr {lr:.6f}")
state = {
    "step": args.until,
    "model": model.state_dict(),
    "optimizer": optimizer.state_dict(),
    "scheduler": scheduler.state_dict(),
    "rng": torch.get_rng_state(),
}
torch.save(state, "last.ckpt")
result(model, optimizer)
