"""Run every benchmark of this folder, one after the other: `python -m benchmarks [NAME...]`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def main() -> int:
    wanted = sys.argv[1:]
    missed = []
    for path in sorted(Path(__file__).parent.glob("bench_*.py")):
        name = path.stem.removeprefix("bench_")
        if wanted and name not in wanted:
            continue
        print(f"== {name}", flush=True)
        if subprocess.run([sys.executable, str(path)], check=False).returncode:
            missed.append(name)
        print(flush=True)
    print(f"missed a target: {', '.join(missed)}" if missed else "all targets met")
    return 1 if missed else 0


if __name__ == "__main__":
    raise SystemExit(main())
