"""Scripts and commands in forks of a Python that has imported torch already (`warm_python.py`).

Importing torch, and what its first optimizer imports, takes longer than most trainings of the tests.
Whether the command itself does as it should is for tests that start it, above all `test_scripts.py`.
"""

from __future__ import annotations

import atexit
import json
import os
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path


def environment() -> dict[str, str]:
    # TensorFlow, which TensorBoard imports where it is installed, writes the time to standard error.
    quiet = {"TF_CPP_MIN_LOG_LEVEL": "3", "TF_ENABLE_ONEDNN_OPTS": "0"}
    return os.environ | {"OMP_NUM_THREADS": "1", "COLUMNS": "80"} | quiet


class Warm:
    """A Python with torch in it, one for all modules; every script runs in a fork of it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None

    def run(self, argv: list[str], folder: Path, printed: Path) -> int:
        """The exit code; what was printed is in `out.txt` and `err.txt` in the folder `printed`."""
        with self._lock:
            if self._process is None:
                self._process = subprocess.Popen(
                    [sys.executable, str(Path(__file__).parent / "warm_python.py")],
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    text=True,
                    env=environment(),
                )
                atexit.register(self._process.communicate)
            assert self._process.stdin is not None
            assert self._process.stdout is not None
            self._process.stdin.write(json.dumps([argv, str(folder), str(printed)]) + "\n")
            self._process.stdin.flush()
            return int(self._process.stdout.readline())


warm = Warm()


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str


def ran(folder: Path, *argv: str) -> Ran:
    """A script and its arguments, or `-m` and a module's."""
    with tempfile.TemporaryDirectory() as printed:
        code = warm.run(list(argv), folder, Path(printed))
        out, err = ((Path(printed) / f"{name}.txt").read_text("utf-8") for name in ("out", "err"))
        return Ran(code, out, err)


def record(folder: Path, out: str, *words: str) -> Ran:
    """`traindx run` on a training that ends well."""
    done = ran(folder, "-m", "traindx", "run", "--quiet", "--out", out, *words)
    assert done.code == 0, done.err
    return done
