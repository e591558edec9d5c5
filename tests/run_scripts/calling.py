"""Call a program plainly and under `traindx run`."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

SCRIPTS = Path(__file__).parent
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
_SECONDS = 180


@dataclass(frozen=True)
class Result:
    out: str
    err: str
    code: int


def call(words: Sequence[object], folder: Path, **variables: str) -> Result:
    """Run a command in a folder; addresses in what it prints are made alike."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("TRAINDX", "PYTEST"))}
    environment |= {"COLUMNS": "100", "OMP_NUM_THREADS": "1", **variables}
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
    )
    return Result(_ADDRESS.sub("0x", done.stdout), _ADDRESS.sub("0x", done.stderr), done.returncode)


def plain(folder: Path, *words: object, **variables: str) -> Result:
    return call([sys.executable, *words], folder, **variables)


def recorded(folder: Path, *words: object, **variables: str) -> Result:
    return call([sys.executable, "-m", "traindx", "run", *words], folder, **variables)


def both(folder: Path, *words: object) -> tuple[Result, Result]:
    """The program plainly and recorded, at the same time."""
    with ThreadPoolExecutor(1) as pool:
        other = pool.submit(plain, folder, *words)
        return recorded(folder, "--quiet", *words), other.result()


def recording(folder: Path) -> Path:
    """The only recording made in a folder."""
    (found,) = [path for path in (folder / ".traindx").iterdir() if path.is_dir()]
    return found


def facts(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "run.json").read_text(encoding="utf-8"))
    return found


def lines(path: Path) -> list[dict[str, Any]]:
    """The lines of a rank's file."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def printed(path: Path, stream: str = "out") -> str:
    """What a rank's file kept of a stream."""
    return "".join(line.get(stream, "") for line in lines(path))
