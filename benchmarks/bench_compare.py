"""`traindx compare`: a thousand runs of three formats laid side by side, in a fresh process.

The wish: 1,000 runs (a sweep over learning rate, batch size, optimizer and seed, as CSV, JSON lines and
TensorBoard) compared within 60 s on the clock, and not more with the page than without by 20 s.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

THOUSAND_MOST, PAGE_MORE = 60.0, 20.0
RATES = (1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0)


def rows(rate: float, batch: int, seed: int, number: int, steps: int) -> list[dict[str, float]]:
    """A training whose end depends on the rate relative to the batch; too high a rate diverges."""
    rng = random.Random(f"{rate} {batch} {seed} {number}")
    away = math.log10(rate / (1e-2 * batch / 64))
    floor = 0.3 + 0.12 * away**2 + rng.gauss(0, 0.01)
    told: list[dict[str, float]] = []
    for step in range(1, steps + 1):
        loss = floor + 2 * math.exp(-step / (60 + 30 * abs(away))) + rng.gauss(0, 0.02)
        if away > 1.6:
            loss *= 1.05 ** (step / 4)
        row = {"step": step * 10, "loss": loss, "lr": rate, "grad_norm": abs(rng.gauss(1, 0.2))}
        if step % 10 == 0:
            row["val_loss"] = loss + 0.05 + rng.gauss(0, 0.01)
            row["val_acc"] = max(0.0, 1 - loss / 3)
        told.append(row)
    return told


def write(folder: Path, runs: int, steps: int) -> None:
    grid = itertools.cycle(itertools.product(RATES, (16, 64, 256), ("sgd", "adam"), range(20)))
    for number, (rate, batch, optimizer, seed) in zip(range(runs), grid, strict=False):
        place = folder / f"run{number:04}"
        place.mkdir(parents=True)
        config = {"lr": rate, "batch_size": batch, "optimizer": optimizer, "seed": seed}
        told = rows(rate, batch, seed, number, steps)
        if number % 3 == 2:
            tensorboard(place, told, config)
            continue
        (place / "config.json").write_text(json.dumps(config), encoding="utf-8")
        if number % 3:
            lines = "".join(json.dumps(row) + "\n" for row in told)
            (place / "log.jsonl").write_text(lines, encoding="utf-8")
        else:
            keys = ("step", "loss", "lr", "grad_norm", "val_loss", "val_acc")
            table = "".join(",".join(str(row.get(key, "")) for key in keys) + "\n" for row in told)
            (place / "metrics.csv").write_text(",".join(keys) + "\n" + table, encoding="utf-8")


def tensorboard(place: Path, told: list[dict[str, float]], config: dict[str, object]) -> None:
    from torch.utils.tensorboard import SummaryWriter

    writer = SummaryWriter(str(place))
    writer.add_hparams(config, {"hparam/none": 0.0}, run_name=".")
    for row in told:
        for name in ("loss", "lr", "grad_norm", "val_loss", "val_acc"):
            if name in row:
                writer.add_scalar(name, row[name], int(row["step"]))
    writer.close()


def clock(*arguments: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-m", "traindx", "compare", *arguments], check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--steps", type=int, default=300)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        write(folder / "runs", given.runs, given.steps)
        plain = clock(str(folder / "runs"))
        page = clock(str(folder / "runs"), "--html", str(folder / "page.html"), "--plots", str(folder))
        size = (folder / "page.html").stat().st_size / 1e6
    print(f"{given.runs:,} runs of {given.steps} steps: {plain:.1f} s; with page and picture {page:.1f} s")
    print(f"the page has {size:.1f} MB")
    if given.runs == 1000 and (plain > THOUSAND_MOST or page > plain + PAGE_MORE):
        sys.exit(1)


if __name__ == "__main__":
    main()
