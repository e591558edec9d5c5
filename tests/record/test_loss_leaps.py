"""The batch behind a jump of the loss is measured, whichever steps are sampled."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.warm import ran, record

PROGRAM = """
import torch
from torch import nn

torch.manual_seed(0)
x = torch.randn(400, 4)
y = x.sum(1, keepdim=True)
x[333, 2] = 7000.0
model = nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-12)
data = torch.utils.data.TensorDataset(x, y)
loader = torch.utils.data.DataLoader(data, batch_size=10)
for epoch in range(6):
    for i, (a, b) in enumerate({batches}):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        loss.backward()
        optimizer.step()
print(model.weight.tolist())
"""
LOADED = "loader"
SLICED = "[(x[i : i + 10], y[i : i + 10]) for i in range(0, 400, 10)]"


@pytest.mark.parametrize("batches", [LOADED, SLICED])
def test_the_batch_of_a_leap_is_measured(batches: str, tmp_path: Path) -> None:
    program = tmp_path / "train.py"
    program.write_text(PROGRAM.replace("{batches}", batches), encoding="utf-8")
    plain = ran(tmp_path, "train.py")
    recorded = record(tmp_path, "recording", "train.py")
    assert recorded.out == plain.out != ""
    lines = (tmp_path / "recording" / "rank-0.jsonl").read_text(encoding="utf-8").splitlines()
    leaps = [one for line in lines if (one := json.loads(line)).get("event") == "loss_leap"]
    assert [one["step"] for one in leaps] == [34 + 40 * epoch for epoch in range(6)]
    assert {one["data"]["input_peak"] for one in leaps} == {7000.0}
    assert all(("target_peak" in one["data"]) == (batches == LOADED) for one in leaps)
