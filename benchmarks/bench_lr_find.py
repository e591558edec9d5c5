"""Whether the range test is stable and worth following, on small trainings of many kinds.

Each is tested five times, with other weights and other seeds: how far the answers lie apart. Then it is
trained for 400 steps at a grid of constant rates and at the suggested ones: how much worse they end than the
best of the grid. `--only WORD` takes the trainings whose name holds the word.
"""

from __future__ import annotations

import argparse
import math
import statistics
import sys

import rate_tasks
import torch
from torch.utils.data import DataLoader, TensorDataset

import traindx

REPEATS = 5
STEPS = 400
LAST = 60
# Repeats agree within this factor, and half the upper end is at most so much worse than the best rate.
APART, WORSE = 2.0, 1.5


def main() -> int:
    torch.set_num_threads(1)
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--only", default="")
    wanted = options.parse_args().only.lower()
    missed = []
    print("| training | suggested | apart | stable up to | apart | best | lower end | middle | upper end |")
    print("| --- | --- | ---: | --- | ---: | --- | ---: | ---: | ---: |")
    for name, task in rate_tasks.TASKS.items():
        if wanted in name.lower() and not judged(name, task):
            missed.append(name)
    print(f"missed: {', '.join(missed)}" if missed else "met: stable within a factor of 2, regret below 1.5")
    return int(bool(missed))


def judged(name: str, task: rate_tasks.Task) -> bool:
    """One line of the table; whether it meets the aims."""
    data = TensorDataset(*task.data())
    highs, edges = [], []
    for repeat in range(REPEATS):
        torch.manual_seed(77 * repeat + 1)
        model = task.model()
        loader = DataLoader(data, task.batch, shuffle=True, drop_last=True)
        found = traindx.lr_find(
            model,
            task.optimizer(model, 1e-3),
            task.loss,
            loader,
            accumulate=task.accumulate,
            seed=10 * repeat,
        )
        if found.high is None or found.edge is None:
            print(f"  {name}: {found.verdict}, {found.reason}", file=sys.stderr)
            continue
        highs.append(found.high.value)
        edges.append(found.edge.value)
    if len(highs) < REPEATS - 1:
        print(f"| {name} | answers in {len(highs)} of {REPEATS} repeats |")
        return False
    high, edge = statistics.geometric_mean(highs), statistics.geometric_mean(edges)
    grid = {10.0 ** (power / 4): 0.0 for power in range(-20, 5)}
    grid = {lr: trained(task, data, lr) for lr in grid if high / 100 < lr < 100 * high}
    best = min(grid, key=lambda lr: grid[lr])
    worse = [trained(task, data, high / factor) / grid[best] for factor in (4.0, 2.0, 1.0)]
    apart = [max(values) / min(values) for values in (highs, edges)]
    regret = " | ".join(f"{factor:.2f}" for factor in worse)
    print(
        f"| {name} | {high / 4:.2g} to {high:.2g} | {apart[0]:.2f} | {edge:.2g} | {apart[1]:.2f} "
        f"| {best:.2g} | {regret} |",
        flush=True,
    )
    return max(apart) <= APART and worse[1] <= WORSE


def trained(task: rate_tasks.Task, data: TensorDataset, lr: float) -> float:
    """The loss at the end, over two seeds; without end where it broke."""
    ends = []
    for seed in (500, 501):
        torch.manual_seed(seed)
        model = task.model()
        optimizer = task.optimizer(model, lr)
        batches = iter(())
        losses: list[float] = []
        while len(losses) < STEPS:
            optimizer.zero_grad()
            total = 0.0
            for _ in range(task.accumulate):
                batch = next(batches, None)
                if batch is None:
                    batches = iter(DataLoader(data, task.batch, shuffle=True, drop_last=True))
                    batch = next(batches)
                loss = task.loss(model(batch[0]), batch[1]) / task.accumulate
                loss.backward()
                total += float(loss.detach())
            losses.append(total)
            if not math.isfinite(total):
                return math.inf
            optimizer.step()
        ends.append(statistics.mean(losses[-LAST:]))
    return statistics.mean(ends)


if __name__ == "__main__":
    sys.exit(main())
