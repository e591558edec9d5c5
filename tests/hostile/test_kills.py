"""Killed at any moment: the recording is readable, and nothing older than a second is missing."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import traindx

SCRIPT = """
import sys, time, torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
step, by_hand, slow = 0, "by_hand" in sys.argv, "slow" in sys.argv
optimizer = None if by_hand else torch.optim.Adam(model.parameters())
with open("steps.txt", "w", buffering=1) as log:
    print("ready", flush=True)
    while True:
        loss = model(torch.randn(16, 8)).square().mean()
        model.zero_grad()
        loss.backward()
        if by_hand:
            with torch.no_grad():
                for p in model.parameters():
                    p -= 0.001 * p.grad
        else:
            optimizer.step()
        if slow:
            time.sleep(0.05)
        step += 1
        log.write(f"{step} {time.monotonic()}\\n")
"""
WAYS = ("", "slow", "by_hand")
KILLS = 24


def killed(folder: Path, way: str, seconds: float, *, ready: bool) -> None:
    """Kill it so long after its start, or after it has begun to train; look at what it left."""
    folder.mkdir()
    (folder / "train.py").write_text(SCRIPT)
    command = [sys.executable, "-m", "traindx", "run", "--quiet", "--out", "rec", "train.py", way]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    if ready:
        assert process.stdout.readline() == b"ready\n"
    time.sleep(seconds)
    os.kill(process.pid, signal.SIGKILL)
    moment = time.monotonic()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (-signal.SIGKILL, b"")
    for path in (folder / "rec").glob("rank-*.jsonl"):
        *whole, _ = path.read_bytes().split(b"\n")
        for line in whole:
            json.loads(line)
    if (folder / "rec" / "run.json").exists():
        json.loads((folder / "rec" / "run.json").read_text())
    if ready and seconds > 0.2:
        _complete(folder, moment, seconds)


def _complete(folder: Path, moment: float, seconds: float) -> None:
    taken = [line.split() for line in (folder / "steps.txt").read_text().splitlines()]
    done = {int(line[0]): float(line[1]) for line in taken if len(line) == 2}
    runs = traindx.read(folder / "rec").runs
    if not runs:
        # On a busy machine nothing may have been written yet: no more than a second is lost then, either.
        assert moment - min(done.values(), default=moment) < 1, (folder, seconds)
        return
    (run,) = runs
    last = int(run.series["loss"].steps[-1])
    assert last <= max(done) + 1
    missing = moment - done.get(last, moment)
    assert missing < 1, (folder, seconds, last, max(done), missing)


def kills(tmp_path: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    plans = [
        (tmp_path / str(number), WAYS[number % 3], chance.uniform(0, 2), number % 4 != 3)
        for number in range(count)
    ]
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(killed, *plan[:3], ready=plan[3]) for plan in plans]:
            done.result()


def test_a_kill(tmp_path: Path) -> None:
    killed(tmp_path / "0", "by_hand", 0.5, ready=True)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2))
def test_many_kills(tmp_path: Path, seed: int) -> None:
    kills(tmp_path, KILLS, seed)
