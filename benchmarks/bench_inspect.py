"""`traindx inspect` on a typical run, as a fresh process, against importing numpy and rich.

The wish: at most 2.5 times, for a TensorBoard run and a CSV of just under 100,000 points.
Commands take turns, so that load on the machine meets all of them alike; medians are compared, of
the time on the clock (which counts) and of the processor time (which load disturbs less).
Compiled bytecode is kept, as after an installation, whatever the environment says.
"""

from __future__ import annotations

import argparse
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

TARGET = 2.5
TAGS = ["train/loss", "train/lr", "train/grad_norm", "val/loss", *(f"train/metric_{i}" for i in range(5))]
STEPS = 11_000


def value(tag: int, step: int) -> float:
    return math.exp(-step / 3000) * (tag + 1) + 0.01 * math.sin(step * (tag + 1))


def write_tensorboard(folder: Path) -> None:
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.compat.proto.summary_pb2 import Summary
    from tensorboard.summary.writer.event_file_writer import EventFileWriter

    writer = EventFileWriter(str(folder))
    for step in range(STEPS):
        for number, tag in enumerate(TAGS):
            summary = Summary(value=[Summary.Value(tag=tag, simple_value=value(number, step))])
            writer.add_event(Event(step=step, wall_time=1.7e9 + step, summary=summary))
    writer.close()


def write_csv(path: Path) -> None:
    with open(path, "w", encoding="utf-8") as out:
        out.write(",".join(["step", *TAGS]) + "\n")
        for step in range(STEPS):
            out.write(",".join([str(step), *(f"{value(i, step):.6g}" for i in range(len(TAGS)))]) + "\n")


def seconds(command: list[str], folder: Path) -> tuple[float, float]:
    """Time on the clock and processor time of one fresh process."""
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(folder / "bytecode")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, cwd=folder, env=environment) as child:
        _, status, usage = os.wait4(child.pid, 0)
        clock = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} failed with exit code {child.returncode}")
    return clock, usage.ru_utime + usage.ru_stime


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repeat", type=int, default=31)
    repeat = options.parse_args().repeat
    traindx = str(Path(sys.executable).parent / "traindx")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        write_tensorboard(folder / "tensorboard")
        write_csv(folder / "metrics.csv")
        commands = {
            "import numpy, rich": [sys.executable, "-c", "import numpy, rich"],
            "inspect, TensorBoard": [traindx, "inspect", "tensorboard"],
            "inspect, CSV": [traindx, "inspect", "metrics.csv"],
            "traindx --help": [traindx, "--help"],
        }
        for command in commands.values():
            seconds(command, folder)
        taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
        for _ in range(repeat):
            for name, command in commands.items():
                taken[name].append(seconds(command, folder))
    return report(taken, repeat)


def report(taken: dict[str, list[tuple[float, float]]], repeat: int) -> int:
    """Print medians and ratios; 1 when a target is missed."""
    clock = {name: statistics.median(pair[0] for pair in pairs) for name, pairs in taken.items()}
    cpu = {name: statistics.median(pair[1] for pair in pairs) for name, pairs in taken.items()}
    base = next(iter(taken))
    print(f"{len(TAGS) * STEPS:,} points, medians of {repeat} fresh processes taking turns, target {TARGET}x")
    for name in taken:
        print(
            f"  {name:<22} {1000 * clock[name]:6.0f} ms {clock[name] / clock[base]:5.2f}x"
            f"   processor {1000 * cpu[name]:6.0f} ms {cpu[name] / cpu[base]:5.2f}x"
        )
    missed = [name for name in taken if name.startswith("inspect") and clock[name] > TARGET * clock[base]]
    print("missed: " + ", ".join(missed) if missed else "met")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
