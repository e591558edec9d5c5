"""What recording costs a training, against the same loop unobserved and against what others do.

The wish, with the default budget: at most 1 % longer steps where steps take 100 ms and more (a ResNet-18,
a GPT of 10 million parameters), at most 4 % where they take 3 ms (a small MLP). All on the CPU with AdamW.

One process; observed blocks of steps stand between plain ones (`blocks.py`). "plain" in the table is the
control: plain blocks measured as if they were observed. traindx records with one recorder all the time,
which is taken out of torch for the blocks of the others; its looks inside come as often as in a run
without breaks, which is printed beside it.

`TRAINDX_BENCH_SECONDS` sets the seconds for each training (120), `TRAINDX_BENCH_TRAININGS` which of them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path

import torch
from blocks import Overhead, overhead, seconds_per_step, take_turns
from observers import Observer, Recorded, plain, rivals
from trainings import TRAININGS

MOST = {"MLP": 0.04, "CNN": 0.01, "GPT": 0.01}
# Seconds of a block: long enough that what comes four times a second comes as often as it should.
BLOCK = {"MLP": 1.0, "CNN": 1.5, "GPT": 1.5}
UNBROKEN = 0.1
CONTROL, TRAINDX = "plain", "**traindx, default budget**"


def measure(name: str, seconds: float, folder: Path) -> tuple[float, dict[str, Overhead]]:
    """Seconds of a plain step, and what each observer adds to it."""
    recorded = Recorded(TRAININGS[name], folder / name)
    training = recorded.training
    before = recorded.looks(), recorded.recorder.step
    traindx = Observer(TRAINDX, recorded.on)
    often = [traindx, Observer(CONTROL, plain), traindx]
    taken = take_turns(training, often, rivals(training, folder), block=BLOCK[name], seconds=seconds)
    step = seconds_per_step(taken)
    first = 1000 * recorded.first_step
    print(f"{name}: a plain step takes {1000 * step:.1f} ms; the first recorded one {first:.0f} ms")
    tell_looks(recorded, before, UNBROKEN * seconds)
    if recorded.recorder.off:
        raise SystemExit(f"switched off, so the numbers are void: {', '.join(recorded.recorder.off)}")
    recorded.close()
    return step, {one: overhead(pairs) for one, pairs in taken.items()}


def tell_looks(recorded: Recorded, before: tuple[int, int], seconds: float) -> None:
    """Whether the looks inside came as often in the blocks as they do without breaks."""
    looks, step = recorded.looks(), recorded.recorder.step
    print(f"  looked inside {looks - before[0]} times in {step - before[1]} steps of its blocks", end=", ")
    ends = time.perf_counter() + seconds
    with recorded.on():
        while time.perf_counter() < ends:
            recorded.training.run(1)
    print(f"{recorded.looks() - looks} times in {recorded.recorder.step - step} steps without a break")


def report(found: dict[str, tuple[float, dict[str, Overhead]]]) -> int:
    """The table; 1 when a target is missed."""
    heads = [f"{name}, {1000 * step:,.{int(step < 0.01)}f} ms" for name, (step, _) in found.items()]
    print("\n| observer | " + " | ".join(heads) + " |\n| --- |" + " ---: |" * len(found))
    rows = dict.fromkeys([CONTROL, TRAINDX, *(row for _, shares in found.values() for row in shares)])
    for row in rows:
        print(f"| {row} | " + " | ".join(str(shares.get(row, "")) for _, shares in found.values()) + " |")
    print()
    missed = 0
    for name, (_, shares) in found.items():
        ours, most = shares[TRAINDX], MOST[name]
        missed += ours.share > most
        unsure = ", but the interval holds the limit" if ours.low <= most < ours.high else ""
        print(f"{name}: {'missed' if ours.share > most else 'met'} {100 * most:.0f} %{unsure}")
    return int(missed > 0)


def main() -> int:
    seconds = float(os.environ.get("TRAINDX_BENCH_SECONDS", "120"))
    wanted = os.environ.get("TRAINDX_BENCH_TRAININGS", ",".join(TRAININGS)).split(",")
    print(f"torch {torch.__version__} on the CPU, {torch.get_num_threads()} threads")
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as scratch:
        found = {name: measure(name, seconds, Path(scratch)) for name in wanted}
        return report(found)


if __name__ == "__main__":
    sys.exit(main())
