"""A program that sets or replaces the clock: times of its recording go on, and the program is left alone."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import traindx
from tests.run_scripts.calling import facts, lines, recorded

TRAINS = """
import sys, time, torch
way, early = sys.argv[1], "early" in sys.argv
sleep = time.sleep

def broken():
    raise RuntimeError("no clock")

def change():
    for name in ("time", "perf_counter", "monotonic"):
        real = getattr(time, name)
        frozen = real()
        put = {
            "back": lambda real=real: real() - 1e6,
            "forward": lambda real=real: real() + 1e6,
            "frozen": lambda frozen=frozen: frozen,
            "broken": broken,
        }[way]
        setattr(time, name, put)

if early:
    change()
torch.manual_seed(0)
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 1))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step in range(1, 201):
    loss = model(torch.randn(8, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 100 and not early:
        change()
    sleep(0.002)
print("done")
"""
WAYS = [(way, when) for way in ("back", "forward", "frozen", "broken") for when in ("early", "late")]


@pytest.mark.parametrize(
    ("way", "when"),
    [pytest.param(*each, marks=() if each == ("broken", "late") else pytest.mark.long) for each in WAYS],
)
def test_times_go_on(tmp_path: Path, way: str, when: str) -> None:
    pytest.importorskip("torch")
    (tmp_path / "train.py").write_text(TRAINS)
    result = recorded(tmp_path, "--quiet", "--out", "rec", "train.py", way, when)
    assert (result.out, result.err, result.code) == ("done\n", "", 0)
    (run,) = traindx.read(tmp_path / "rec").runs
    loss, took = run.series["loss"], run.series["step_s"].values
    assert len(loss.values) == 200
    assert loss.times is not None
    between = np.diff(loss.times)
    assert between.min() >= 0
    assert 0.002 * 190 < between.sum() < 100
    assert took.min() > 0
    assert took.max() < 10
    ended = facts(tmp_path / "rec")["ended"]
    assert (ended["how"], ended["step"]) == ("finished", 200)
    assert 0 < ended["t"] < 100


DELETES = """
import os, time
real = time.time
print("step 1 loss 1", flush=True)
time.time = lambda: real() - 1e6
os.remove("rec/rank-0.jsonl")
time.sleep(2.1)
print("step 2 loss 1", flush=True)
"""


def test_a_recording_that_begins_anew_has_no_times_before_its_start(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(DELETES)
    assert recorded(tmp_path, "--quiet", "--out", "rec", "train.py").code == 0
    told = lines(tmp_path / "rec" / "rank-0.jsonl")
    assert "recording_lost" in [line.get("event") for line in told]
    assert min(line["t"] for line in told if "t" in line) > 2


def test_the_wall_clock_is_read_once(tmp_path: Path) -> None:
    """What is set back later changes no time: only `started` comes from it."""
    code = (
        "import time, traindx\n"
        "watch = traindx.watch(out='rec')\n"
        "real = time.time\n"
        "time.time = lambda: real() - 1e9\n"
        "traindx.log(loss=1.0, step=1)\n"
        "watch.stop()\n"
    )
    before = time.time()
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True)
    head, *rest = (tmp_path / "rec" / "rank-0.jsonl").read_text().splitlines()
    assert before <= json.loads(head)["started"] <= time.time()
    assert all(0 <= json.loads(line)["t"] < 60 for line in rest)
