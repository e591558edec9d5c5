"""What wrote train.log: `python make_log.py > train.log`. Whoever is sent a log does not have this file."""

# mypy: ignore-errors

import argparse
import time
from pathlib import Path

import torch
from torch import nn

torch.manual_seed(3)
torch.set_num_threads(1)
text = Path(argparse.__file__).read_text(encoding="utf-8")
letters = sorted(set(text))
data = torch.tensor([letters.index(letter) for letter in text])
inputs, targets = data.unfold(0, 12, 1)[:-1], data[12:]
order = torch.randperm(len(inputs))
held, kept = order[:2000], order[2000:]

model = nn.Sequential(
    nn.Embedding(len(letters), 16), nn.Flatten(), nn.Linear(192, 128), nn.Tanh(), nn.Linear(128, len(letters))
)
optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.1)
print(f"## charnet, {len(letters)} letters, {sum(p.numel() for p in model.parameters())} weights ##")
for epoch in range(1, 9):
    began = time.perf_counter()
    for it, part in enumerate(kept.split(256), start=1):
        loss = nn.functional.cross_entropy(model(inputs[part]), targets[part])
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 1e9)
        optimizer.step()
        if it % 20 == 0:
            pace = it * 256 / (time.perf_counter() - began)
            rate = schedule.get_last_lr()[0]
            numbers = f"nll {loss:.4f} ; lr {rate:.1e} ; |g| {norm:.3f} ; {pace:.0f} smp/s"
            print(f"E{epoch:02d} it {it:04d} >> {numbers}")
    with torch.no_grad():
        logits = model(inputs[held])
    held_nll = nn.functional.cross_entropy(logits, targets[held])
    hits = (logits.argmax(1) == targets[held]).float().mean()
    print(f"E{epoch:02d} ** valid nll {held_nll:.4f} acc {hits:.1%}")
    schedule.step()
