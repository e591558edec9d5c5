"""CPU seconds to read 1,000,000 rows of CSV and JSON lines, beside NumPy and pandas.

    python benchmarks/bench_tables.py [--small]

Every reader runs in this process on the same file, in turns; the least of the turns counts. The
ratio is theirs over ours: above 1 means that traindx takes less CPU. The targets are 1 against
`numpy.loadtxt` and `pandas.read_json`; the exit code is 1 when one is missed. `pandas.read_csv` is for
information.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from traindx.logs import csvs, jsons
from traindx.logs.log_file import File

COLUMNS = ("step", "loss", "val_loss", "lr", "grad_norm")
_FREE = ("traindx", "pandas.read_csv")
Readers = dict[str, Callable[[Path], object]]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--small", action="store_true", help="20,000 rows and one turn")
    small = parser.parse_args().small
    rows, turns = (20_000, 1) if small else (1_000_000, 3)
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for title, path, readers in _cases(Path(folder), rows):
            print(f"\n{title}: {rows:,} rows, {path.stat().st_size / 1e6:.0f} MB")
            ratios = _compare(path, readers, turns)
            missed += [name for name in ratios if name not in _FREE and ratios[name] < 1]
    return 1 if missed and not small else 0


def _cases(folder: Path, rows: int) -> list[tuple[str, Path, Readers]]:
    grid = np.random.default_rng(0).random((rows, len(COLUMNS)))
    table = folder / "plain.csv"
    lines = folder / "plain.jsonl"
    mixed = folder / "mixed.jsonl"
    gaps = folder / "gaps.csv"
    with open(table, "w") as a, open(lines, "w") as b, open(mixed, "w") as c, open(gaps, "w") as d:
        a.write(",".join(COLUMNS) + "\n")
        d.write(",".join(COLUMNS) + "\n")
        for step, cells in enumerate(grid.tolist()):
            row: dict[str, float] = dict(zip(COLUMNS, cells, strict=True))
            row["step"] = step
            a.write(",".join(map(repr, row.values())) + "\n")
            b.write(json.dumps(row) + "\n")
            if step % 100:
                row.pop("val_loss")
            c.write(json.dumps(row) + "\n")
            d.write(",".join(repr(row[n]) if n in row else "" for n in COLUMNS) + "\n")
    pandas_csv, pandas_lines = _pandas()
    loadtxt = {"numpy.loadtxt": lambda path: np.loadtxt(path, delimiter=",", skiprows=1)}
    own: Readers = {"traindx": lambda path: csvs.read_table(File(path))}
    own_lines: Readers = {"traindx": lambda path: jsons.read_table(File(path))}
    return [
        ("CSV", table, {**own, **loadtxt, **pandas_csv}),
        ("CSV with gaps", gaps, {**own, **pandas_csv}),
        ("JSON lines, all alike", lines, {**own_lines, **pandas_lines}),
        ("JSON lines, keys differ", mixed, {**own_lines, **pandas_lines}),
    ]


def _pandas() -> tuple[Readers, Readers]:
    try:
        import pandas
    except ImportError:
        print("pandas is not installed: pip install 'traindx[bench]' to compare with it")
        return {}, {}
    return (
        {"pandas.read_csv": pandas.read_csv},
        {"pandas.read_json(lines=True)": lambda path: pandas.read_json(path, lines=True)},
    )


def _compare(path: Path, readers: Readers, turns: int) -> dict[str, float]:
    best = dict.fromkeys(readers, float("inf"))
    for _ in range(turns):
        for name, reader in readers.items():
            start = time.process_time()
            reader(path)
            best[name] = min(best[name], time.process_time() - start)
    ratios = {name: seconds / best["traindx"] for name, seconds in best.items()}
    for name, seconds in best.items():
        print(f"  {name:<30} {seconds:8.3f} s CPU   {ratios[name]:6.2f}x")
    return ratios


if __name__ == "__main__":
    raise SystemExit(main())
