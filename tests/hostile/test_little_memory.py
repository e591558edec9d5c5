"""Large logs on a machine with little memory: an answer or one line, whatever the limit is."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest

ROWS = {
    "log.csv": ("step,loss,lr\n", "{n},{loss:.6f},0.001\n", ""),
    "log.jsonl": ("", '{{"step": {n}, "loss": {loss:.6f}, "phase": "train", "x": []}}\n', ""),
    "log.json": ('{"val": [], "loss": [1', ", {loss:.6f}", "]}"),
    "log.log": ("", "step {n} loss {loss:.6f}\n", ""),
}


def written(folder: Path, name: str, rows: int) -> Path:
    begin, row, end = ROWS[name]
    path = folder / name
    with path.open("w") as file:
        file.write(begin)
        file.writelines(row.format(n=n, loss=2 / (n + 1)) for n in range(rows))
        file.write(end)
    return path


def diagnosed(path: Path, mebibytes: int) -> tuple[int, str]:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))

    done = subprocess.run(
        [sys.executable, "-m", "traindx", "diagnose", path],
        preexec_fn=limit,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=120,
        check=False,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "NO_COLOR": "1"},
    )
    return done.returncode, done.stdout.decode("utf-8", "replace")


def judged(code: int, said: str, where: str) -> bool:
    """Whether the memory was enough; anything but an answer or one line fails."""
    assert "Traceback" not in said, f"{where}: {said}"
    assert "please report" not in said, f"{where}: {said}"
    if code in (0, 1):
        return True
    assert code == 2, f"{where}: ended with {code}: {said}"
    assert "not enough memory" in said, f"{where}: {said}"
    assert len(said.splitlines()) == 1, f"{where}: {said}"
    return False


def test_a_log_larger_than_the_memory(tmp_path: Path) -> None:
    assert not judged(*diagnosed(written(tmp_path, "log.csv", 500_000), 230), "230 MiB")


@pytest.mark.long
@pytest.mark.parametrize("name", ROWS)
def test_every_limit(tmp_path: Path, name: str) -> None:
    path = written(tmp_path, name, 2_000_000)
    for mebibytes in (*range(200, 600, 20), 700, 850, 1000, 1200):
        judged(*diagnosed(path, mebibytes), f"{mebibytes} MiB")
