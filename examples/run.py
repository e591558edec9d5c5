"""Runs an example in a copy of its folder: `python examples/run.py first_nan`.

The commands are those that its README.md shows. The tests run them this way, and so does `make docs`, which
draws the pictures of the gallery.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
NAMES = (
    "stranger_log",
    "first_nan",
    "overfitting",
    "slow_loader",
    "sweep",
    "one_line_watch",
    "notebook",
    "treat",
)
SECONDS = 300


def readme(name: str) -> str:
    return (HERE / name / "README.md").read_text(encoding="utf-8")


def commands(name: str) -> list[str]:
    """The lines of the first shell block of its README."""
    block = re.search(r"```sh\n(.*?)```", readme(name), re.DOTALL)
    assert block, f"examples/{name}/README.md shows no commands"
    return [line.split("#")[0].strip() for line in block[1].splitlines() if line.strip()]


def run(name: str, folder: Path, *, color: bool = False) -> str:
    """All commands of an example in a copy below `folder`; what the last one shows on both streams."""
    place = folder / name
    shutil.copytree(HERE / name, place)
    python = {"python": [sys.executable], "traindx": [sys.executable, "-m", "traindx"]}
    environment = {**os.environ, "COLUMNS": "100", "PYTHONIOENCODING": "utf-8"}
    environment |= {"FORCE_COLOR": "1"} if color else {"NO_COLOR": "1"}
    shown = ""
    for command in commands(name):
        first, *rest = shlex.split(command)
        done = subprocess.run(
            [*python[first], *rest],
            cwd=place,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=SECONDS,
            check=False,
        )
        shown = done.stdout.decode("utf-8", "replace")
        # traindx exits with 1 where it finds a problem, which is what the examples are for.
        if done.returncode not in ((0, 1) if first == "traindx" else (0,)):
            raise RuntimeError(f"{command} ended with {done.returncode}:\n{shown}")
    return shown


def main() -> None:
    if sys.argv[1:] and set(sys.argv[1:]) <= set(NAMES):
        for name in sys.argv[1:]:
            with tempfile.TemporaryDirectory() as folder:
                print(run(name, Path(folder)))
    else:
        raise SystemExit(f"usage: python examples/run.py NAME...\nnames: {', '.join(NAMES)}")


if __name__ == "__main__":
    main()
