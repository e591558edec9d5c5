"""What the recorder does at each step of a long training, counted in calls: seconds are for the benchmarks.

`benchmarks/bench_record_tiny.py` measures the CPU time. It is a sum of these calls, so a change that adds
some to every step fails here, on a busy machine too.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.run_scripts.calling import recorded

pytest.importorskip("torch")

# Fourteen functions are entered when a step is only counted, and some more now and then for a row.
MOST = 24
SCRIPT = """
import json, os, sys
import torch
from torch import nn

import traindx

OURS = os.path.dirname(traindx.__file__)
WINDOWS = {2000: 3000, 7000: 8000}
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
inputs, targets = torch.randn(16, 8), torch.randn(16, 1)
calls = 0

def count(frame, event, argument):
    global calls
    calls += event == "call" and frame.f_code.co_filename.startswith(OURS)

counted = []
for step in range(8001):
    if step in WINDOWS:
        calls = 0
        sys.setprofile(count)
    if step in WINDOWS.values():
        sys.setprofile(None)
        counted.append(calls / 1000)
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(inputs), targets)
    loss.backward()
    if {clip}:
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
print(json.dumps(counted))
"""


@pytest.mark.parametrize("clip", [False, True])
def test_few_calls_a_step_and_no_more_as_the_run_grows(tmp_path: Path, clip: bool) -> None:
    (tmp_path / "train.py").write_text(SCRIPT.replace("{clip}", str(clip)))
    result = recorded(tmp_path, "--quiet", "train.py")
    assert result.code == 0, result.err
    early, late = json.loads(result.out)
    assert 5 < early <= MOST, "the recorder was not there, or does more at each step"
    assert late <= early + 2
