"""A large text log: speed and peak memory, in a process of its own.

The wish: 500 MB at 20 MB/s or more, with less than 600 MB of memory at the peak.

python benchmarks/bench_text.py [--small]
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

READ = """
import json, resource, sys, time
import traindx
begin, cpu = time.perf_counter(), time.process_time()
found = traindx.read(sys.argv[1])
run = found.runs[0]
print(json.dumps({
    "wall": time.perf_counter() - begin,
    "cpu": time.process_time() - cpu,
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    "series": {name: len(s) for name, s in run.series.items()},
}))
"""


def short_lines(i: int) -> str:
    """nanoGPT: about 50 bytes and four numbers a line."""
    if i % 200 == 0:
        return f"step {i}: train loss {3 + math.sin(i):.4f}, val loss {3.1 + math.sin(i):.4f}\n"
    return f"iter {i}: loss {3 + math.sin(i):.4f}, time {100 + i % 97:.2f}ms, mfu {30 + i % 11:.2f}%\n"


def long_lines(i: int) -> str:
    """Behind a logging prefix: about 150 bytes and six numbers a line."""
    stamp = f"2025-03-0{1 + i % 9} 12:{i % 60:02d}:{i % 59:02d},{i % 1000:03d}"
    loss, lr, norm = 3 + math.sin(i), 1e-3 / (1 + i * 1e-6), 1 + i % 7 / 10
    return (
        f"{stamp} - trainer - INFO - step {i} | loss: {loss:.6f} | lr {lr:.4e} | norm: {norm:.4f} | "
        f"dt: {400 + i % 31:.2f}ms | tok/sec: {1e6 + i % 9999:.2f}\n"
    )


def write(path: Path, size: int, line: object) -> int:
    assert callable(line)
    written = i = 0
    with open(path, "w") as out:
        while written < size:
            block = "".join(line(j) for j in range(i, i + 50_000))
            out.write(block)
            written += len(block)
            i += 50_000
    return written


LEAST_SPEED = 20.0
MOST_MEMORY = 600.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="20 MB instead of 500 MB")
    size = (20 if parser.parse_args().small else 500) * 1_000_000
    met = True
    print(f"{'log':<14}{'MB':>7}{'wall s':>9}{'cpu s':>8}{'MB/s':>8}{'peak MB':>9}  points")
    with tempfile.TemporaryDirectory() as folder:
        for line in (short_lines, long_lines):
            path = Path(folder, f"{line.__name__}.log")
            written = write(path, size, line)
            done = subprocess.run(
                [sys.executable, "-c", READ, str(path)], capture_output=True, text=True, check=True
            )
            got = json.loads(done.stdout)
            points = sum(got["series"].values())
            print(
                f"{line.__name__:<14}{written / 1e6:>7.0f}{got['wall']:>9.1f}{got['cpu']:>8.1f}"
                f"{written / 1e6 / got['wall']:>8.1f}{got['peak'] / 1e6:>9.0f}  {points:,}"
            )
            met &= written / 1e6 / got["wall"] >= LEAST_SPEED and got["peak"] / 1e6 <= MOST_MEMORY
            path.unlink()
    print("met" if met else f"missed: at least {LEAST_SPEED:g} MB/s within {MOST_MEMORY:g} MB is wished")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
