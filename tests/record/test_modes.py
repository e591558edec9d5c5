"""The mode a step was taken in, also where steps are told late and validation is between them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.warm import record

TRAINING = """
import torch
from torch import nn

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for step in range(800):
    if not {eval_while_training}:
        model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 40 == 39:
        model.eval()
        with torch.no_grad():
            print(step, float(nn.functional.mse_loss(model(x), y)))
"""


@pytest.mark.parametrize(("never_back", "told"), [(False, 0), (True, 1)])
def test_validation_between_steps_is_no_training_in_eval_mode(
    tmp_path: Path, never_back: bool, told: int
) -> None:
    script = tmp_path / "train.py"
    script.write_text(TRAINING.replace("{eval_while_training}", str(never_back)))
    record(tmp_path, "rec", "train.py")
    lines = [json.loads(line) for line in (tmp_path / "rec" / "rank-0.jsonl").read_text().splitlines()]
    modes = [line for line in lines if line.get("event") == "mode" and not line["data"]["training"]]
    assert len(modes) == told


FROZEN = """
import torch
from torch import nn

torch.manual_seed(0)
backbone = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.ReLU()).eval().requires_grad_(False)
head = nn.Linear(8, 1)
model = nn.Sequential(backbone, head)
if {thawed}:
    backbone.train()
optimizer = torch.optim.SGD(head.parameters(), lr=0.01)
x, y = torch.randn(64, 4), torch.randn(64, 1)
for step in range(60):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[:32]), y[:32])
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        with torch.no_grad():
            for part, wanted in zip(x.split(16), y.split(16)):
                float(nn.functional.mse_loss(model(part), wanted))
"""


@pytest.mark.parametrize("thawed", [False, True])
def test_a_frozen_part_that_rests_does_not_make_validation_one_in_training_mode(
    tmp_path: Path, thawed: bool
) -> None:
    script = tmp_path / "train.py"
    script.write_text(FROZEN.replace("{thawed}", str(thawed)))
    record(tmp_path, "rec", "train.py")
    told = (tmp_path / "rec" / "rank-0.jsonl").read_text()
    assert ("validated_in_train_mode" in told) is thawed


AVERAGED = """
import copy

import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)
model = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.2), nn.Linear(8, 1))
average = copy.deepcopy(model).eval()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loss_fn = nn.MSELoss()
for epoch in range(20):
    for a, b in data:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
        with torch.no_grad():
            for kept, now in zip(average.parameters(), model.parameters()):
                kept.lerp_(now, 0.05)
    with torch.no_grad():
        losses = [loss_fn({judged}(a), b).item() for a, b in data]
        print(epoch, sum(losses) / len(losses))
"""


@pytest.mark.parametrize(("judged", "told"), [("average", False), ("model", True)])
def test_an_average_that_is_judged_has_a_mode_of_its_own(tmp_path: Path, judged: str, told: bool) -> None:
    script = tmp_path / "train.py"
    script.write_text(AVERAGED.replace("{judged}", judged))
    record(tmp_path, "rec", "train.py")
    text = (tmp_path / "rec" / "rank-0.jsonl").read_text()
    told_so = text.count("validated_in_train_mode") + text.count("evaluated_in_train_mode")
    assert (told_so > 2) is told


BACK_EARLY = """
import torch
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 4), torch.randn(64, 1)
data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)
model = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1d(8), nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for epoch in range(20):
    for a, b in data:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(a), b).backward()
        optimizer.step()
    with torch.no_grad():
        {before}
        told = [model({inside}a) for a, b in data]
        {after}
        print(epoch, [nn.functional.mse_loss(one, b).item() for one, (a, b) in zip(told, data)])
"""


@pytest.mark.parametrize(
    ("before", "inside", "after", "told"),
    [
        ("model.eval()", "", "model.train()", False),
        ("pass", "a if model.eval() else ", "model.train()", False),
        ("pass", "", "pass", True),
    ],
)
def test_who_is_back_in_training_mode_before_the_loss_was_measured_in_eval_mode(
    tmp_path: Path, before: str, inside: str, after: str, told: bool
) -> None:
    script = tmp_path / "train.py"
    script.write_text(BACK_EARLY.format(before=before, inside=inside, after=after))
    record(tmp_path, "rec", "train.py")
    text = (tmp_path / "rec" / "rank-0.jsonl").read_text()
    assert ("d_in_train_mode" in text) is told
